"""`sync port --cutoff A --tip B`: one branch with two commits, what it refuses, and conflicts that wait for a person."""

import json
import re
import subprocess
from pathlib import Path

import pytest

REGION = re.compile(rb"<<<<<<<[^\n]*\n(.*?)\|\|\|\|\|\|\|[^\n]*\n.*?=======\n.*?>>>>>>>[^\n]*\n", re.S)


@pytest.fixture
def fork(imports, upstream, tmp_path, git):
    """An import at the ninth commit from the end."""
    import shutil

    rev = git(upstream, "rev-parse", "main~9")
    return Path(shutil.copytree(imports(rev), tmp_path / "fork", symlinks=True))


def value_of(answer):
    assert answer.out, answer.err
    return json.loads(answer.out)


def test_a_window_is_one_branch_with_two_commits_and_a_ledger_a_landing(sync, fork, upstream, git):
    answer = sync("port", "--cutoff", "main~9", "--tip", "main", "--as", "w", "--json", repo=fork, upstream=upstream)
    value = value_of(answer)
    assert answer.code == 0 and value["branch"] == "sync/slime-w" and value["status"] == "clean"
    landed = git(upstream, "rev-list", "--reverse", "--first-parent", "main~9..main").split()
    assert [port["upstream_commit"] for port in value["ports"]] == landed
    assert all(p["lines"]["accounted"] == p["lines"]["added"] + p["lines"]["removed"] for p in value["ports"])
    assert git(fork, "rev-list", "--count", "main..sync/slime-w") == "2"
    for commit in ("sync/slime-w~1", "sync/slime-w"):
        trailers = git(fork, "log", "-1", "--format=%(trailers:unfold)", commit).splitlines()
        named = [t.split(": ")[1] for t in trailers if t.startswith("Upstream-Commit: ")]
        assert named == landed
        numbers = [t for t in trailers if t.startswith("Upstream-PR: ")]
        assert len(numbers) == sum(port["pr"] is not None for port in value["ports"])
        people = [t for t in trailers if t.startswith("Co-authored-by: ")]
        assert people and len(people) == len(set(people))
        assert git(fork, "log", "-1", "--format=%an", commit) == "Ada Maintainer"
    ledgers = git(fork, "ls-tree", "-r", "--name-only", "sync/slime-w", "ledgers/").split()
    assert sum(path.endswith(".json") for path in ledgers) == len(landed)
    git(fork, "switch", "-q", "sync/slime-w")
    assert sync("ledger", "check", repo=fork, upstream=upstream).code == 0


def test_a_window_ported_again_changes_nothing(sync, fork, upstream, git):
    asked = ("port", "--cutoff", "main~9", "--tip", "main", "--as", "w", "--json")
    assert value_of(sync(*asked, repo=fork, upstream=upstream))["branch"]
    tip = git(fork, "rev-parse", "sync/slime-w")
    git(fork, "switch", "-q", "-c", "next", "sync/slime-w")
    answer = sync(*asked[:-3], "--as", "again", "--json", repo=fork, upstream=upstream)
    value = value_of(answer)
    assert answer.code == 0 and value["branch"] is None and value["status"] == "present"
    assert git(fork, "rev-parse", "sync/slime-w") == tip


def test_a_dry_run_writes_nothing(sync, fork, upstream, git):
    before = git(fork, "for-each-ref")
    value = value_of(
        sync(
            "port",
            "--cutoff",
            "main~9",
            "--tip",
            "main",
            "--as",
            "w",
            "--dry-run",
            "--json",
            repo=fork,
            upstream=upstream,
        )
    )
    assert len(value["ports"]) == 9 and value["branch"] is None
    assert git(fork, "for-each-ref") == before


def test_the_cutoff_is_where_the_fork_was_imported(sync, fork, upstream):
    value = value_of(sync("port", "--tip", "main", "--as", "w", "--dry-run", "--json", repo=fork, upstream=upstream))
    assert len(value["ports"]) == 9


def test_an_empty_window_is_nothing_to_do(sync, fork, upstream):
    asked = ("port", "--cutoff", "main", "--tip", "main", "--as", "w")
    answer = sync(*asked, repo=fork, upstream=upstream)
    assert answer.code == 0 and "Nothing to do" in answer.out
    assert value_of(sync(*asked, "--json", repo=fork, upstream=upstream))["ports"] == []


@pytest.mark.parametrize(
    "words, said",
    [
        (("--cutoff", "main~9", "--tip", "main"), "--as"),
        (("--cutoff", "main~9", "--as", "w"), "--tip"),
        (("--cutoff", "main", "--tip", "main~9", "--as", "w"), "main line"),
        (("--cutoff", "nowhere", "--tip", "main", "--as", "w"), "nowhere"),
        (("1921", "--cutoff", "main~9", "--tip", "main", "--as", "w"), "leave out"),
        (("--cutoff", "main~9", "--tip", "main", "--as", "a b"), "not a name"),
    ],
)
def test_what_is_asked_wrongly_is_refused_with_what_to_do(sync, fork, upstream, git, words, said):
    answer = sync("port", *words, repo=fork, upstream=upstream)
    assert answer.code == 2 and said in answer.err
    assert "sync/" not in git(fork, "for-each-ref")


def test_a_fork_that_nothing_places_in_upstreams_history_needs_a_cutoff(sync, handwritten, upstream):
    answer = sync("port", "--tip", "main", "--as", "w", repo=handwritten, upstream=upstream)
    assert answer.code == 2 and "--cutoff" in answer.err


def in_conflict(fork: Path, git) -> Path:
    """The fork changes a line that the window changes too."""
    path = fork / "vime/utils/http_utils.py"
    text = path.read_text()
    line = next(x for x in text.splitlines() if "sleep" in x)
    path.write_text(text.replace(line, line + "  # ours", 1))
    git(fork, "commit", "-qam", "Wait as we wait")
    return path


def test_conflicts_of_a_window_wait_for_a_person(sync, fork, upstream, git):
    in_conflict(fork, git)
    refs = git(fork, "for-each-ref")
    answer = sync("port", "--cutoff", "main~9", "--tip", "main", "--as", "w", "--json", repo=fork, upstream=upstream)
    value = value_of(answer)
    place = Path(value["worktree"])
    assert answer.code == 1 and value["status"] == "conflicts" and value["branch"] is None
    assert git(fork, "for-each-ref") == refs
    blamed = [port["pr"] for port in value["ports"] if port["conflicts"]]
    assert blamed == [1926]
    assert sync("port", "--continue", repo=fork).code == 2
    unmerged = {r.split("\t")[1] for r in git(place, "ls-files", "-u").splitlines()}
    for path in unmerged:
        (place / path).write_bytes(REGION.sub(rb"\1", (place / path).read_bytes()))
        git(place, "add", path)
    value = value_of(sync("port", "--continue", "--json", repo=fork))
    assert value["branch"] == "sync/slime-w" and not value["worktree"]
    assert "# ours" in git(fork, "show", "sync/slime-w:vime/utils/http_utils.py")
    git(fork, "switch", "-q", "sync/slime-w")
    assert sync("ledger", "check", repo=fork, upstream=upstream).code == 0


def test_a_waiting_window_can_be_given_up(sync, fork, upstream, git):
    in_conflict(fork, git)
    asked = ("port", "--cutoff", "main~9", "--tip", "main", "--as", "w", "--json")
    place = Path(value_of(sync(*asked, repo=fork, upstream=upstream))["worktree"])
    assert place.is_dir()
    assert sync("port", "--abort", repo=fork).code == 0
    assert not place.exists() and "sync/" not in git(fork, "for-each-ref")
    subprocess.run(["git", "-C", fork, "fsck", "--strict"], check=True, capture_output=True)
