"""What the tests of the sandbox share: one sandbox of each kind, and a look at its processes from outside."""

import os
import time
from pathlib import Path

import pytest

from vime.sandbox import Limits, Sandbox, SandboxRefused

SMALL = Limits(wall=3.0, cpu=2, memory=128 << 20, processes=8, file=1 << 20, disk=4 << 20, output=20_000, open_files=32)


def started(mode: str, **options) -> Sandbox:
    """A sandbox, or a skipped test with the system's reason."""
    try:
        return Sandbox(mode, limits=SMALL, **options)
    except SandboxRefused as refused:
        if os.environ.get("VIME_SANDBOX_REQUIRED"):
            raise
        pytest.skip(str(refused))


def descendants(pid: int) -> list[int]:
    """Every process below `pid`."""
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, task.read_text().split()):
            found += [child, *descendants(child)]
    return found


def seconds_of_a_call(sandbox: Sandbox, tries: int = 3) -> float:
    """The quickest of a few calls that do nothing."""
    best = float("inf")
    for _ in range(tries):
        started_at = time.perf_counter()
        result = sandbox.run("print(1)")
        assert result.ok and result.stdout == "1\n", result
        best = min(best, time.perf_counter() - started_at)
    return best
