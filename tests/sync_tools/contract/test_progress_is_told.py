"""On a terminal a long command says what it does; in a pipe it says nothing of it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def said_by(upstream, tmp_path_factory):
    """The standard error of a command, which is a terminal or a pipe."""
    fork = tmp_path_factory.mktemp("progress") / "fork"

    def run(words: list[str], terminal: bool) -> str:
        command = [sys.executable, "-m", "sync_tools", *(str(fork) if word == "FORK" else word for word in words)]
        env = {**os.environ, "TERM": "xterm", "PYTHONPATH": str(ROOT), "SYNC_UPSTREAM": str(upstream)}
        if not terminal:
            return subprocess.run(command, env=env, cwd=fork.parent, capture_output=True, text=True).stderr
        master, slave = os.openpty()
        process = subprocess.Popen(command, env=env, cwd=fork.parent, stdout=subprocess.DEVNULL, stderr=slave)
        os.close(slave)
        said = b""
        while True:
            try:
                said += os.read(master, 65536)
            except OSError:  # Linux says so when the other end is closed
                break
        process.wait()
        os.close(master)
        return said.decode()

    first = subprocess.run(
        ["git", "-C", str(upstream), "log", "--format=%H", "--grep", "(#1861)$"], capture_output=True, text=True
    ).stdout.strip()
    assert "translating upstream" in run(["import", "--at", f"{first}^", "--to", str(fork)], terminal=True)
    return run


@pytest.mark.parametrize(
    ("words", "step"),
    [
        (["status", "--repo", "FORK"], "landings"),
        (["plan", "1921", "--repo", "FORK"], "following"),
        (["plan", "--cutoff", "main~3", "--repo", "FORK"], "following"),
        (["init", "--cutoff", "main~11", "--dry-run", "--repo", "FORK"], "comparing"),
        (["seam", "sites", "--at", "main"], "looking for sites"),
        (["port", "1921", "--dry-run", "--repo", "FORK"], "checks"),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, list) else "",
)
def test_a_long_command_tells_its_progress_to_a_terminal_alone(said_by, words, step) -> None:
    assert step in said_by(words, terminal=True)
    assert said_by(words, terminal=False) == ""
