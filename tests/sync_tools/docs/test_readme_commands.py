"""The commands of the README, in its order and to the letter, against the miniature upstream."""

import json
import os
import re
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from sync_tools.demo.forks import build_handwritten_fork, parent_of

ROOT = Path(__file__).parents[3]
# What the README says of the real upstream, and what stands for it here.
CUTOFF, TIP = "8ef1fb47e", "624b824a8"
NOT_RUN = ("make", "vime ", "python examples/")  # the framework's run in its own tests
BY_HAND = ("vime-sync port 1926", "vime-sync port --continue", "vime-sync port --abort")
STREAM = "sync/slime-pr-1921"


def commands(path: str) -> list[str]:
    """The lines of the shell blocks of a document, without their comments."""
    blocks = re.findall(r"^```sh\n(.*?)^```", (ROOT / path).read_text("utf-8"), re.DOTALL | re.MULTILINE)
    lines = [re.split(r"\s+#\s", line)[0].strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line and not line.startswith(NOT_RUN)]


@pytest.fixture
def desk(upstream: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Two forks: the one that the README begins, and one whose people edited what #1926 edits."""
    monkeypatch.setenv("SYNC_UPSTREAM", str(upstream))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return SimpleNamespace(fork=tmp_path / "vime", by_hand=build_handwritten_fork(tmp_path / "by-hand"))


def test_the_commands_of_the_readme_do_what_it_says(
    desk: SimpleNamespace, upstream: Path, sync: Callable[..., object]
) -> None:
    codes = {}
    for line in commands("README.md"):
        place = desk.by_hand if line in BY_HAND else desk.fork
        if place.is_dir():
            os.chdir(place)
        _prepare(line, place)
        program, *words = shlex.split(line)
        if program == "cd":
            assert (place.parent / "here" / words[0]).resolve() == place, "the next commands run in the fork"
            continue
        if program == "git":
            git(place, *words)
            continue
        assert program == "vime-sync"
        stand_in = {CUTOFF: parent_of(upstream, 1861), TIP: "main"}
        words = [stand_in.get(word, word) for word in words]
        if "ENTRY" in words:
            words[words.index("ENTRY")] = _some_entry(place)
        said = sync(*words)
        codes[line] = said.code
        assert "Traceback" not in said.err, (line, said.err)
        assert said.code in (0, 1) or line == "vime-sync port --continue", (line, said.err)
    assert codes["vime-sync port 1926"] == 1, "the conflict that the README promises"
    assert codes["vime-sync port --continue"] == 2, "markers are left"
    assert codes["vime-sync port --abort"] == 0
    assert codes["vime-sync ledger check 1921"] == 0
    assert git(desk.fork, "rev-parse", "--verify", "-q", "sync/slime-streaming")
    assert "test_new.py" in git(desk.fork, "diff", "HEAD")


def test_the_readme_names_the_four_uses() -> None:
    heads = re.findall(r"^## (.*)$", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE)
    uses = ["Port a pull request", "Review a ledger", "Regenerate CI", "Run the framework"]
    assert [head for head in heads if head in uses] == uses


def test_the_guide_to_ledgers_has_no_command_that_is_not_one(sync: Callable[..., object]) -> None:
    for line in commands("docs/reviewing-a-ledger.md"):
        words = shlex.split(line)[1:]
        assert sync(*words[:2], "--help").code == 0, line


def git(place: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=place, check=True, capture_output=True, text=True).stdout


def _prepare(line: str, place: Path) -> None:
    """The files that a reader of the README has at hand."""
    if "--log run.log" in line:
        (place / "run.log").write_text('{"step": 1, "loss": 0.3}\n{"step": 2, "loss": 0.2}\n')
    if "test_new.py" in line:
        (place / "tests" / "test_new.py").write_text("def test_new():\n    assert True\n")


def _some_entry(place: Path) -> str:
    entries = json.loads((place / "ledgers" / "slime-1921.json").read_text())["entries"]
    return min(entries, key=lambda e: (e["state"] != "open", e["id"]))["id"]
