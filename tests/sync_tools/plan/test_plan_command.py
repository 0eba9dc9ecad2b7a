"""`sync plan` as a command: what it prints, what it refuses, and that it writes nothing."""

import json
from pathlib import Path

import pytest

KEYS = {
    *("schema", "pr", "upstream_commit", "title", "state", "searched", "other_landings", "files", "prerequisites"),
    *("later_changes", "companions", "absent_paths", "owned_paths", "dropped_paths", "risks", "ci"),
}


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_the_plan_of_the_streaming_rollout(sync, imported, upstream):
    fork = imported(1920)
    before = snapshot(fork)
    answer = sync("plan", 1921, "--json", repo=fork, upstream=upstream)
    found = json.loads(answer.out)
    assert answer.code == 0 and set(found) == KEYS
    assert found["pr"] == 1921 and found["state"] == "missing"
    assert 1920 in [p["pr"] for p in found["prerequisites"]]
    for key in ("prerequisites", "later_changes", "companions", "absent_paths", "risks"):
        assert all({"pr", "commit", "why"} <= set(each) for each in found[key])
    assert [row["test_file"] for row in found["ci"]["rows"]] == ["test_qwen3_4B_streaming_partial_rollout.py"]
    assert found["ci"]["labels"] and {f["kind"] for f in found["files"]} >= {"ci", "code", "tests"}
    assert snapshot(fork) == before


def test_in_words(sync, imported, upstream):
    answer = sync("plan", 1921, repo=imported(1920), upstream=upstream)
    assert answer.code == 0
    assert "needs #1920" in answer.out and "not in the fork" in answer.out and "label " in answer.out


def test_a_commit_goes_where_a_number_does(sync, imported, upstream, git):
    commit = git(upstream, "rev-parse", "main")
    found = json.loads(sync("plan", commit[:12], "--json", repo=imported(1920), upstream=upstream).out)
    assert found["upstream_commit"] == commit and found["pr"] is None


def test_absent_owned_and_dropped_paths_say_why(grown, fork_at, sync, git):
    base = grown.land("begin (#1)", {"slime/a.py": "A = 1\n", "slime/b.py": "B = 1\n", "slime/c.py": "C = 1\n"})
    files = {"slime/a.py": "A = 2\n", "slime/b.py": "B = 2\n", "slime/c.py": "C = 2\n"}
    grown.land("it (#2)", files)
    fork = fork_at(grown.at, base)
    git(fork, "rm", "-q", "vime/a.py")
    policies = [("slime/b.py", "owned"), ("slime/c.py", "skip")]
    (fork / "sync.toml").write_text(
        "schema = 1\n"
        + "".join(f'[[policies]]\nmatch = "{p}"\naction = "{a}"\nreason = "ours {a}"\n' for p, a in policies)
    )
    git(fork, "add", "-A")
    git(fork, "commit", "-q", "-m", "ours")
    removed = git(fork, "rev-parse", "HEAD")
    found = json.loads(sync("plan", 2, "--json", repo=fork, upstream=grown.at).out)
    [absent] = found["absent_paths"]
    assert (absent["path"], absent["commit"]) == ("vime/a.py", removed)
    assert [(p["path"], p["why"]) for p in found["owned_paths"]] == [("vime/b.py", "ours owned")]
    assert [(p["path"], p["why"]) for p in found["dropped_paths"]] == [("vime/c.py", "ours skip")]


@pytest.mark.parametrize("number", ["banana", "999999", "-1"])
def test_what_is_no_change_is_refused(number, sync, imported, upstream):
    answer = sync("plan", number, "--json", repo=imported(1920), upstream=upstream)
    assert answer.code == 2 and json.loads(answer.out)["error"]["fix"]


def test_a_change_or_a_window_and_not_both(sync, imported, upstream):
    fork = imported(1920)
    assert sync("plan", repo=fork, upstream=upstream).code == 2
    assert sync("plan", 1921, repo=fork, upstream=upstream, cutoff="main").code == 2


def test_titles_and_paths_are_text_and_nothing_else(grown, sync):
    path = 'slime/a "b"\tc\x1b[2J\n.py'
    base = grown.land("begin (#1)", {path: "A = 1\nB = 1\n"})
    grown.land("\x1b]0;evil\x07 [red]it[/red] (#2)", {path: "A = 2\nB = 1\n"}, body="\x1b[31m #1")
    grown.land("fix [bold]\x1b[1m (#3)", {path: "A = 3\nB = 1\n"})
    answer = sync("plan", repo=grown.at, upstream=grown.at, cutoff=base)
    assert answer.code == 0 and "\x1b" not in answer.out and "\x07" not in answer.out
    assert "[red]it[/red]" in answer.out


def test_titles_are_text_in_the_plan_of_one_change_and_of_a_port(grown, fork_at, sync):
    base = grown.land("begin (#1)", {"slime/a.py": "A = 1\nB = 1\n"})
    grown.land("\x1b]0;evil\x07 [red]it[/red] (#2)", {"slime/a.py": "A = 2\nB = 1\n"}, body="\x1b[31m #1")
    grown.land("on it (#3)", {"slime/a.py": "A = 3\nB = 1\n"}, body="Like #2")
    grown.land("fix [bold]\x1b[1m (#4)", {"slime/a.py": "A = 4\nB = 1\n"})
    fork = fork_at(grown.at, base)
    for words in (("plan", 3), ("plan", 2), ("port", 3, "--dry-run")):
        answer = sync(*words, repo=fork, upstream=grown.at)
        assert answer.out and "\x1b" not in answer.out and "\x07" not in answer.out
    assert "[red]it[/red]" in sync("plan", 3, repo=fork, upstream=grown.at).out


def test_a_path_with_everything_in_it_is_followed(grown):
    from sync_tools.gitio import Repo
    from sync_tools.upstream.history import diffs, names

    path = 'slime/a "b"\tc\\ \x1b é.py'
    grown.land("begin (#1)", {path: "A = 1\n"})
    second = grown.land("it (#2)", {path: "A = 2\n"})
    repo = Repo.open(grown.at)
    assert [(f.old, f.new, len(f.hunks)) for f in diffs(repo, "HEAD", [path])[second]] == [(path, path, 1)]
    assert [(f.old, f.new) for f in names(repo, "HEAD")[second]] == [(path, path)]


def test_a_change_off_the_main_line_has_a_plan(grown, fork_at, sync):
    base = grown.land("begin (#1)", {"slime/a.py": "A = 1\n"})
    grown.git("switch", "-q", "-c", "side")
    side = grown.land("aside", {"slime/a.py": "A = 2\n"})
    grown.git("switch", "-q", "main")
    grown.land("on (#2)", {"slime/b.py": "B = 1\n"})
    found = json.loads(sync("plan", side, "--json", repo=fork_at(grown.at, base), upstream=grown.at).out)
    assert found["upstream_commit"] == side and found["prerequisites"] == found["later_changes"] == []
