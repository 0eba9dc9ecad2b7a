"""Plans on the real upstream."""

import json
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sync_tools.gitio import Repo
from sync_tools.plan.lines import written_by
from sync_tools.upstream.history import diffs, messages

PORT_1920, PORT_1921, PORT_1984 = "f0bce74ae", "35e8767f9", "a3c5462a7"
CUTOFF, TIP = "8ef1fb47e", "624b824a8"


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.fixture
def planned(slime: Path) -> Callable[..., tuple[dict, float]]:
    """The object of `sync plan` as a process of its own, and the seconds of CPU that it took."""

    def plan(repo: Path, *words: str) -> tuple[dict, float]:
        began = cpu()
        command = [sys.executable, "-m", "sync_tools", "plan", *words, "--json", "--repo", str(repo)]
        done = subprocess.run([*command, "--upstream", str(slime)], capture_output=True, check=True)
        return json.loads(done.stdout), cpu() - began

    return plan


@pytest.mark.upstream
@pytest.mark.parametrize(("at", "state"), [(PORT_1920, "missing"), (PORT_1921, "landed"), (None, "unknown")])
def test_1921_stands_on_1920_and_was_mended_by_2261(at, state, planned, parent_import, tmp_path):
    fork = parent_import(at) if at else _nothing(tmp_path / "nothing")
    found, seconds = planned(fork, "1921", "--tip", TIP)
    assert (1920, state) in [(p["pr"], p["state"]) for p in found["prerequisites"]]
    [fix] = [x for x in found["later_changes"] if x["kind"] == "fix"]
    assert fix["pr"] == 2261 and fix["places"][0]["symbol"] == "generate_streaming"
    assert [row["test_file"] for row in found["ci"]["rows"]] == (
        ["test_qwen3_4B_streaming_partial_rollout.py"] if at else []
    )
    assert seconds < 2.5


@pytest.mark.upstream
def test_1984_was_taken_back_by_2013(planned, parent_import):
    found, seconds = planned(parent_import(PORT_1984), "1984", "--tip", TIP)
    assert [(x["kind"], x["pr"]) for x in found["later_changes"]] == [("revert", 2013)]
    assert seconds < 2.5


@pytest.mark.upstream
def test_the_real_window(planned, parent_import, slime):
    found, seconds = planned(parent_import(PORT_1920), "--cutoff", CUTOFF, "--tip", TIP)
    rows = {each["pr"]: each for each in found["prs"]}
    assert len(found["prs"]) == 193
    assert rows[1984]["together"]["pr"] == 2013 and rows[2041]["together"]["pr"] == 2046
    assert rows[1919]["state"] == "landed" and rows[1920]["state"] == "missing"
    assert [x["pr"] for x in rows[1921]["later_changes"]] == [2261]
    assert seconds < 10


@pytest.mark.upstream
def test_git_agrees_on_who_wrote_the_lines_that_a_change_edits(slime):
    repo = Repo.open(slime)
    line = messages(repo, TIP)
    floor = line[150].commit
    history = diffs(repo, f"{floor}..{TIP}")
    asked = 0
    for at in (0, 3, 7, 15, 24, 31, 38, 52):
        earlier = [(m.commit, history[m.commit]) for m in line[at + 1 : 150] if m.commit in history]
        for file in [f for f in history[line[at].commit] if f.old and f.new][:6]:
            wanted = [n for hunk in file.hunks for n in hunk.old][:200]
            said = {n: r.commit for r in written_by({file.old: wanted}, earlier) for n in r.lines[file.old]}
            span = f"{floor}..{line[at].commit}^"
            out = repo.run("blame", "--first-parent", "-s", "-l", span, "--", file.old).split(b"\n")
            for n in wanted:
                blamed = out[n].split()[0].decode()
                assert said.get(n) == (None if blamed.startswith("^") else blamed), (file.old, n)
            asked += len(wanted)
    assert asked > 100


def _nothing(at: Path) -> Path:
    at.mkdir()
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "begin"]):
        subprocess.run(["git", "-C", str(at), *words], check=True)
    return at
