"""The hooks that a contributor installs leave alone what is written in other people's style."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
OTHERS = [
    "sync_tools/demo/files/upstream/base/slime/ray/placement_group.py",
    "sync_tools/demo/files/fork/start/vime/utils/data.py",
]


@pytest.mark.parametrize("words", [["format", "--check"], ["check"]], ids=" ".join)
def test_fixtures_are_not_ours_to_format_even_where_they_are_named(words: list[str]) -> None:
    done = subprocess.run([sys.executable, "-m", "ruff", *words, *OTHERS], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert "No Python files" in done.stdout + done.stderr
