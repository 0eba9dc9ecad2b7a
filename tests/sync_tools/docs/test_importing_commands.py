"""The commands of the guide to importing, in its order and to the letter, against the miniature upstream."""

import re
import shlex
from pathlib import Path

import pytest

from sync_tools.importer import Imported

GUIDE = (Path(__file__).parents[3] / "docs" / "importing.md").read_text("utf-8")
# A commit of the real upstream; the miniature's stands for it here.
COMMIT = "8ef1fb47e"


def commands() -> list[str]:
    blocks = re.findall(r"^```sh\n(.*?)^```", GUIDE, re.DOTALL | re.MULTILINE)
    return [re.split(r"\s+#\s", line)[0].strip() for block in blocks for line in block.splitlines()]


def test_the_commands_begin_a_fork(sync, git, upstream: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYNC_UPSTREAM", str(upstream))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    for line in commands():
        program, *words = shlex.split(line)
        assert program == "vime-sync"
        said = sync(*(git(upstream, "rev-parse", "HEAD") if word == COMMIT else word for word in words))
        assert said.code in (0, 1), (line, said.err)
    assert "Upstream-Commit: " in git(tmp_path / "vime", "log", "-1", "--format=%B")


def test_the_keys_that_the_guide_names_are_those_of_the_report() -> None:
    named = re.search(r"the same as one object: (.*?)\.\n", GUIDE, re.DOTALL)
    assert named and set(re.findall(r"`(\w+)`", named[1])) <= set(Imported.__dataclass_fields__)
