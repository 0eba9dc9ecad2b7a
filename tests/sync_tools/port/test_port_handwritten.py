"""Ports onto the fork that people wrote by hand: nothing of theirs is lost, everything open is listed."""

import json
import re
from pathlib import Path

import pytest


def value_of(answer):
    assert "Traceback" not in answer.out + answer.err
    return json.loads(answer.out)


def test_what_the_fork_removed_is_absent_and_names_the_commit_that_removed_it(sync, handwritten, upstream, git):
    answer = sync("port", 1861, "--json", repo=handwritten, upstream=upstream)
    [port] = value_of(answer)["ports"]
    removal = git(handwritten, "log", "-1", "--format=%H", "--diff-filter=D", "--", "examples/retool")
    assert answer.code == 1 and port["status"] == "unresolved"
    assert port["absent"] == ["examples/retool/generate_with_retool.py"]
    assert port["entries"] == {"absent": port["entries"]["absent"]}
    assert removal in sync("ledger", "show", 1861, repo=handwritten, upstream=upstream).out


def test_bring_takes_an_absent_file_as_upstream_has_it_after_the_change(sync, handwritten, upstream, git):
    path = "examples/retool/generate_with_retool.py"
    answer = sync("port", 1861, "--bring", path, "--json", repo=handwritten, upstream=upstream)
    [port] = value_of(answer)["ports"]
    assert port["absent"] == []
    text = git(handwritten, "show", f"sync/slime-pr-1861:{path}")
    assert "/inference/v1/generate" in text and "sglang" not in text
    assert {p["path"] for p in port["unresolved"]} <= {path}


def test_what_people_landed_by_hand_is_present_and_not_overwritten(sync, handwritten, upstream, git):
    answer = sync("port", 1921, "--json", repo=handwritten, upstream=upstream)
    value = value_of(answer)
    [port] = value["ports"]
    assert answer.code == 0 and port["status"] == "present"
    assert set(port["entries"]) <= {"present", "generated", "diverged"}
    changed = git(handwritten, "diff", "--name-only", "HEAD", value["branch"]).splitlines()
    assert changed and all(path.startswith("ledgers/") for path in changed)


def test_upstreams_removal_of_an_edited_file_is_a_conflict_and_the_edits_stay(sync, handwritten, upstream, git):
    path = "examples/fully_async/fully_async_rollout.py"
    mine = (handwritten / path).read_bytes()
    answer = sync("port", 1920, "--json", repo=handwritten, upstream=upstream)
    value = value_of(answer)
    [port] = value["ports"]
    assert answer.code == 1 and value["status"] == "conflicts" and value["branch"] is None
    assert path in {c["path"] for c in port["conflicts"]}
    assert (Path(value["worktree"]) / path).read_bytes() == mine
    assert port["lines"]["accounted"] == port["lines"]["added"] + port["lines"]["removed"]


def test_a_conflict_leaves_diff3_markers_and_three_stages_and_moves_no_branch(sync, handwritten, upstream, git):
    value = value_of(sync("port", 1926, "--json", repo=handwritten, upstream=upstream))
    place = Path(value["worktree"])
    assert place.is_relative_to(handwritten / ".git")
    text = (place / "vime/utils/http_utils.py").read_text()
    assert re.search(r"^<{7} .*^\|{7} .*^={7}\n.*^>{7} ", text, re.M | re.S)
    stages = {line.split()[2] for line in git(place, "ls-files", "-u").splitlines()}
    assert stages == {"1", "2", "3"}
    assert git(handwritten, "branch", "--list", "sync/*") == ""


def resolve(place: Path, path: str, choose: int) -> None:
    text = (place / path).read_text()
    block = re.compile(r"^<{7} [^\n]*\n(.*?)^\|{7} [^\n]*\n(.*?)^={7}\n(.*?)^>{7} [^\n]*\n", re.M | re.S)
    (place / path).write_text(block.sub(lambda m: m[choose], text))


def test_continue_refuses_while_markers_are_left_and_finishes_when_they_are_gone(sync, handwritten, upstream, git):
    place = Path(value_of(sync("port", 1926, "--json", repo=handwritten, upstream=upstream))["worktree"])
    refused = sync("port", "--continue", repo=handwritten, upstream=upstream)
    assert refused.code == 2 and "markers" in refused.err and place.is_dir()
    resolve(place, "vime/utils/http_utils.py", choose=3)
    done = sync("port", "--continue", "--json", repo=handwritten, upstream=upstream)
    value = value_of(done)
    assert value["branch"] == "sync/slime-pr-1926" and value["ports"][0]["conflicts"] == []
    assert not place.exists() and "paused" not in git(handwritten, "worktree", "list")
    assert "wait_before(attempt)" in git(handwritten, "show", f"{value['branch']}:vime/utils/http_utils.py")


def test_a_resolution_that_is_not_the_translation_is_a_decision_of_the_person_who_made_it(
    sync, handwritten, upstream, git
):
    place = Path(value_of(sync("port", 1926, "--json", repo=handwritten, upstream=upstream))["worktree"])
    resolve(place, "vime/utils/http_utils.py", choose=1)
    sync("port", "--continue", repo=handwritten, upstream=upstream)
    ledger = json.loads(git(handwritten, "show", "sync/slime-pr-1926:ledgers/slime-1926.json"))
    [decided] = [e for e in ledger["entries"] if e["upstream"]["symbol"] == "_post"]
    assert decided["op"] == "diverged" and "Ada Maintainer" in decided["who"]


def test_abort_removes_the_work_tree_and_touches_no_branch(sync, handwritten, upstream, git):
    before = git(handwritten, "for-each-ref")
    place = Path(value_of(sync("port", 1926, "--json", repo=handwritten, upstream=upstream))["worktree"])
    assert sync("port", "--abort", repo=handwritten).code == 0
    assert not place.exists() and git(handwritten, "for-each-ref") == before
    assert sync("port", "--abort", repo=handwritten).code == 2


@pytest.mark.parametrize("choice", ["rm", "add"])
def test_a_file_that_one_side_deleted_is_kept_or_removed_by_the_person(choice, sync, handwritten, upstream, git):
    place = Path(value_of(sync("port", 1920, "--json", repo=handwritten, upstream=upstream))["worktree"])
    resolve(place, "examples/fully_async/README.md", choose=3)
    path = "examples/fully_async/fully_async_rollout.py"
    refused = sync("port", "--continue", repo=handwritten, upstream=upstream)
    assert refused.code == 2 and path in refused.err
    git(place, choice, "-q", path) if choice == "rm" else git(place, "add", path)
    value = value_of(sync("port", "--continue", "--json", repo=handwritten, upstream=upstream))
    names = git(handwritten, "ls-tree", "-r", "--name-only", value["branch"]).splitlines()
    assert (path in names) == (choice == "add")


@pytest.mark.parametrize("number", [1861, 1874, 1880, 1887, 1899, 1920, 1921, 1926, 1930, 1933, 1935])
def test_every_pull_request_accounts_for_every_line_and_loses_no_edit(number, sync, handwritten, upstream, git):
    answer = sync("port", number, "--json", repo=handwritten, upstream=upstream)
    value = value_of(answer)
    [port] = value["ports"]
    assert port["lines"]["accounted"] == port["lines"]["added"] + port["lines"]["removed"]
    broken = {f["path"] for c in port["checks"].values() if c["result"] == "failed" for f in c["findings"]}
    assert port["status"] != "failed" or (number, broken) == (
        1930,
        {"examples/fully_async/run-qwen3-4b-fully_async.sh"},
    )
    if value["branch"]:
        deleted = git(handwritten, "diff", "--name-only", "--diff-filter=D", "HEAD", value["branch"]).splitlines()
        assert all(
            p
            in git(upstream, "log", "--all", "--format=", "--name-only")
            .replace("slime/", "vime/")
            .replace("sglang", "vllm")
            for p in deleted
        )


def test_bring_takes_the_siblings_that_the_file_imports(sync, handwritten, upstream, git):
    path = "examples/retool/generate_with_retool.py"
    value = value_of(sync("port", 1861, "--bring", path, "--json", repo=handwritten, upstream=upstream))
    names = git(handwritten, "ls-tree", "-r", "--name-only", value["branch"], "examples/retool").splitlines()
    text = git(handwritten, "show", f"{value['branch']}:{path}")
    assert "from tool_sandbox import" in text and "examples/retool/tool_sandbox.py" in names
    assert value["ports"][0]["checks"]["imports"]["result"] == "passed"


@pytest.mark.parametrize(("path", "word"), [("../x", "leaves the tree"), ("train.py", "does not touch it")])
def test_bring_of_a_path_that_there_is_nothing_to_bring_at(path, word, sync, handwritten, upstream, git):
    before = git(handwritten, "for-each-ref")
    answer = sync("port", 1861, "--bring", path, repo=handwritten, upstream=upstream)
    assert answer.code == 2 and word in answer.err
    assert git(handwritten, "for-each-ref") == before
