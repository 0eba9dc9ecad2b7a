"""The commands of the guides to planning, porting and replaying a window, in their order and to the letter."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from sync_tools.demo.forks import parent_of

DOCS = Path(__file__).parents[3] / "docs"


def commands(guide: str) -> list[list[str]]:
    blocks = re.findall(r"^```sh\n(.*?)^```", (DOCS / guide).read_text("utf-8"), re.DOTALL | re.MULTILINE)
    return [shlex.split(line, comments=True) for block in blocks for line in block.splitlines()]


@pytest.mark.parametrize("guide", ["planning.md", "porting-a-window.md", "replaying-a-window.md"])
def test_the_commands_of_a_guide_run_as_written(guide, sync, imported, upstream, monkeypatch, tmp_path) -> None:
    fork = imported(1861)
    monkeypatch.setenv("SYNC_UPSTREAM", str(upstream))
    monkeypatch.chdir(fork)
    edits = fork.parent / "my-edits" / "examples"
    edits.mkdir(parents=True)
    (edits / "ours.py").write_text("ours = 1\n")
    stand_in = {"8ef1fb47e": parent_of(upstream, 1861), "624b824a8": "main"}
    for program, *words in commands(guide):
        if program == "git":
            subprocess.run([program, *words], check=True, capture_output=True)
            continue
        if program == "python":  # a benchmark of the real upstream
            assert (DOCS.parent / words[0]).is_file()
            continue
        assert program == "vime-sync"
        said = sync(*(stand_in.get(word, word) for word in words))
        assert said.code in (0, 1), (words, said.err)
