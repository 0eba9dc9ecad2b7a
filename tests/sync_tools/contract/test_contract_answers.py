"""Every command's object, field by field, with its exit code where the work is done and clean, and where a person is needed."""

import json

import pytest


def commit_all(git, fork, subject="ours"):
    git(fork, "add", "--all")
    git(fork, "commit", "-q", "-m", subject)


def test_fetch_reads_a_local_upstream_in_place(ask, upstream, git, imported):
    code, value = ask("fetch", repo=imported(1921))
    assert code == 0 and value["head"] == git(upstream, "rev-parse", "main")


def test_translate_counts_lines_and_columns_from_one(ask, tmp_path):
    file = tmp_path / "x.py"
    file.write_text("import slime\n")
    code, value = ask("translate", file, path="slime/x.py", repo=tmp_path)
    assert code == 0 and value["text"] == "import vime\n" and value["unresolved"] == []
    assert [(a["line"], a["column"]) for a in value["applications"]] == [(1, 8)]


def test_translate_of_nothing_to_do_has_empty_lists(ask, tmp_path):
    file = tmp_path / "x.py"
    file.write_text("")
    assert ask("translate", file, repo=tmp_path) == (
        0,
        {"schema": 1, "text": "", "applications": [], "unresolved": []},
    )


def test_translate_with_a_site_that_is_not_translated_needs_a_person(ask, tmp_path):
    file = tmp_path / "x.py"
    file.write_text("\nfrom sglang.srt.server_args import ServerArgs\n")
    code, value = ask("translate", file, repo=tmp_path)
    assert code == 1 and [s["line"] for s in value["unresolved"]] == [2]


def test_explain_leaves_the_object_alone_on_standard_output(ask, tmp_path):
    file = tmp_path / "x.py"
    file.write_text("import slime\n")
    assert ask("translate", file, "--explain", repo=tmp_path)[0] == 0


def test_import_counts_every_file_once(ask, upstream, git, tmp_path):
    code, value = ask("import", at="main", to=tmp_path / "fork", repo=tmp_path)
    assert code == (1 if value["unresolved"] or value["failed"] else 0)
    assert value["files"] == value["translated"] + value["identical"] + value["failed"]
    listed = git(upstream, "ls-tree", "-r", "--name-only", "main").splitlines()
    assert value["files"] + value["dropped"] == len(listed)
    assert value["upstream_commit"] == git(upstream, "rev-parse", "main")


def test_import_of_what_needs_nobody_is_clean(ask, tmp_path, git):
    small = tmp_path / "small"
    small.mkdir()
    git(small, "init", "-q", "-b", "main")
    (small / "a.py").write_text("import slime\n")
    commit_all(git, small)
    code, value = ask("import", at="main", to=tmp_path / "fork", repo=tmp_path, upstream=small)
    assert code == 0 and (value["files"], value["translated"], value["unresolved"]) == (1, 1, [])


def test_a_clean_port(ask, imported, landed):
    code, value = ask("port", 1921, repo=imported(1921))
    (port,) = value["ports"]
    assert code == 0 and value["status"] == port["status"] == "clean"
    assert (value["branch"], value["worktree"]) == ("sync/slime-pr-1921", None)
    assert (port["pr"], port["upstream_commit"]) == (1921, landed(1921))
    assert port["lines"]["accounted"] == port["lines"]["added"] + port["lines"]["removed"]
    assert [row["test_file"] for row in port["ci"]["added"]] == ["test_qwen3_4B_streaming_partial_rollout.py"]


def test_a_dry_run_has_the_same_object_and_no_branch(ask, imported):
    fork = imported(1921)
    code, dry = ask("port", 1921, "--dry-run", repo=fork)
    assert code == 0 and (dry["branch"], dry["worktree"]) == (None, None)
    assert ask("port", 1921, repo=fork)[1]["ports"] == dry["ports"]


def test_a_port_of_what_the_fork_has_is_present(ask, ported, git):
    git(ported, "switch", "-q", "-c", "ours")
    code, value = ask("port", 1921, repo=ported)
    assert code == 0 and (value["status"], value["branch"]) == ("present", None)


def test_a_port_onto_other_edits_waits_with_its_conflicts(ask, handwritten):
    code, value = ask("port", 1920, repo=handwritten)
    (port,) = value["ports"]
    assert code == 1 and port["conflicts"] and value["status"] == "conflicts" and value["branch"] is None
    assert value["worktree"].startswith(str(handwritten / ".git"))
    assert port["lines"]["accounted"] == port["lines"]["added"] + port["lines"]["removed"]
    code, value = ask("port", "--abort", repo=handwritten)
    assert code == 0 and (value["ports"], value["branch"], value["worktree"]) == ([], None, None)


def test_a_stack_is_one_branch_of_several_objects(ask, imported):
    code, value = ask("port", 1920, 1921, "--as", "two", repo=imported(1920))
    assert [port["pr"] for port in value["ports"]] == [1920, 1921]
    assert code == 0 and value["branch"] == "sync/slime-two"


def test_ledger_list(ask, ported):
    code, value = ask("ledger list", repo=ported)
    (row,) = value["ledgers"]
    assert code == 0 and (row["ref"], row["state"], row["waiting"]) == ("THUDM/slime#1921", "done", 0)


def test_ledger_list_of_none_is_an_empty_list(ask, imported):
    assert ask("ledger list", repo=imported(1921)) == (0, {"schema": 1, "ledgers": []})


def test_ledger_show(ask, ported):
    code, value = ask("ledger show", 1921, repo=ported)
    entries = value["ledger"]["entries"]
    assert code == 0 and sum(e["added"] for e in entries) == value["ledger"]["added"]
    assert "THUDM/slime#1921" in value["pull_request"]["title"]


CLEAN = {"schema": 1, "ledgers": 1, "problems": [], "older": [], "undeclared": []}


def test_ledger_check_finds_nothing_and_then_a_line_that_is_gone(ask, ported, git):
    assert ask("ledger check", repo=ported) == (0, CLEAN)
    file = ported / "vime/rollout/vllm_streaming_rollout.py"
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:-3]))
    commit_all(git, ported)
    code, value = ask("ledger check", 1921, repo=ported)
    assert code == 1 and value["ledgers"] == 1 and value["problems"][0]["ledger"] == "ledgers/slime-1921.json"


def test_ledger_resolve_gives_the_entry_and_the_files(ask, ported):
    ledger = ask("ledger show", 1921, repo=ported)[1]["ledger"]
    entry = next(e for e in ledger["entries"] if e["op"] == "ported")
    options = {"as": "diverged", "why": "ours retries", "until": "2099-03-31", "repo": ported}
    code, value = ask("ledger resolve", 1921, entry["id"], "--dry-run", **options)
    assert code == 0 and value["written"] == []
    code, value = ask("ledger resolve", 1921, entry["id"], **options)
    assert code == 0 and value["entry"]["id"] == entry["id"] and value["open"] == 0
    assert (value["entry"]["op"], value["entry"]["state"]) == ("diverged", "decided")
    assert value["entry"]["who"] == "Ada Maintainer <ada@example.org>"
    assert sorted(value["written"]) == ["ledgers/README.md", "ledgers/slime-1921.json", "ledgers/slime-1921.md"]


@pytest.mark.parametrize("level", ["static", "unit", "contract", "smoke", "converged"])
def test_ledger_evidence_at_every_level(ask, ported, tmp_path, level):
    log = tmp_path / "run.jsonl"
    steps = ({"step": n, "reward": n / 9, "loss": 1 - n / 9, "logprob": -1 - n / 5} for n in range(9))
    log.write_text("".join(json.dumps(step) + "\n" for step in steps))
    if level in ("static", "unit"):
        log.write_text("===== 12 passed in 3.20s =====\n")
    code, value = ask("ledger evidence", 1921, level=level, log=log, command="run", repo=ported)
    assert code == 0 and value["evidence"]["level"] == level and value["evidence"]["warnings"] == []
    assert value["evidence"]["figures"] and "ledgers/slime-1921.json" in value["written"]
    assert ask("ledger list", repo=ported)[1]["ledgers"][0]["evidence"] == level


def test_evidence_that_shows_nothing_needs_a_person(ask, ported, tmp_path):
    log = tmp_path / "run.jsonl"
    log.write_text("".join(f'{{"step": {n}, "reward": 1.0}}\n' for n in range(9)))
    code, value = ask("ledger evidence", 1921, level="smoke", log=log, repo=ported)
    assert code == 1 and value["evidence"]["warnings"]


def test_ci_render_of_a_current_workflow_writes_nothing(ask, ported):
    assert ask("ci render", repo=ported) == (0, {"schema": 1, "written": [], "would_write": []})


def test_ci_check_add_move_and_render(ask, ported):
    assert ask("ci check", repo=ported) == (0, {"schema": 1, "current": True, "problems": [], "inherited": []})
    (ported / "tests/test_new.py").write_text("")
    code, value = ask("ci check", repo=ported)
    assert code == 1 and [p["path"] for p in value["problems"]] == ["tests/test_new.py"]
    add = ("ci add", "test_new.py", "--job", "e2e-test-short", "--num-gpus", 4)
    code, value = ask(*add, "--dry-run", repo=ported)
    assert code == 0 and value["written"] == [] and len(value["would_write"]) == 2
    assert ask(*add, repo=ported)[1]["written"] == value["would_write"]
    move = ("ci move", "test_new.py", "--to", "e2e-test-megatron", "--why", "one pool")
    code, value = ask(*move, repo=ported)
    assert code == 0 and "sync.toml" in value["written"]
    assert ask("ci check", repo=ported)[0] == 0


def test_ci_debt_that_was_there_before_needs_nobody(ask, ported, git):
    (ported / "tests/test_old.py").write_text("")
    workflow = ported / ".github/workflows/pr-test.yml"
    workflow.write_text(workflow.read_text() + "# by hand\n")
    commit_all(git, ported)
    code, value = ask("ci check", "--base", "HEAD", repo=ported)
    assert code == 0 and value["problems"] == [] and not value["current"]
    assert {p["kind"] for p in value["inherited"]} == {"stale", "unregistered"}
    assert ask("ci check", repo=ported)[0] == 1


def test_init(ask, imported):
    fork = imported(1921)
    code, value = ask("init", "--dry-run", repo=fork)
    assert code == 0 and not value["written"] and not (fork / "sync.toml").exists()
    code, value = ask("init", repo=fork)
    assert code == 0 and value["written"] and (fork / "sync.toml").read_text() == value["text"]
