"""The commands of the guide to adopting a fork, in its order and to the letter, on the fork that people wrote."""

import re
import shlex
from pathlib import Path

from sync_tools.demo.forks import parent_of

GUIDE = Path(__file__).parents[3] / "docs" / "adopting-a-fork.md"
CUTOFF = "8ef1fb47e"


def test_the_commands_of_the_guide_do_what_it_says(sync, handwritten, upstream, monkeypatch, git):
    monkeypatch.setenv("SYNC_UPSTREAM", str(upstream))
    monkeypatch.chdir(handwritten)
    blocks = re.findall(r"^```sh\n(.*?)^```", GUIDE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    said = {}
    for line in (line for block in blocks for line in block.splitlines()):
        program, *words = shlex.split(line, comments=True)
        assert program == "vime-sync"
        words = [parent_of(upstream, 1861) if word == CUTOFF else word for word in words]
        said[line.split("  #")[0].strip()] = sync(*words)
    assert {answer.code for answer in said.values()} <= {0, 1}, said
    assert said[f"vime-sync init --cutoff {CUTOFF} --dry-run"].out.count("[[overlays]]") > 10
    assert "cutoff" in git(handwritten, "diff", "sync.toml")
    assert said["vime-sync status"].code == 0 and "Not here" in said["vime-sync status"].out
