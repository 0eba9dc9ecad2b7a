"""What a killed process leaves is ended, also what left its group, and only that."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
DRIVER = """
import signal, subprocess, sys, time
from vime.ray.warden import warden
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
with warden():
    for _ in range(2):
        child = subprocess.Popen(["sh", "-c", "sleep 60 & echo $!; wait"], stdout=subprocess.PIPE, text=True, start_new_session=True)
        print(child.pid, child.stdout.readline().strip(), flush=True)
    sys.stdin.read()
"""


def _driver() -> tuple[subprocess.Popen, list[int]]:
    process = subprocess.Popen(
        [sys.executable, "-c", DRIVER],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        stderr=subprocess.DEVNULL,
    )
    return process, [int(pid) for _ in range(2) for pid in process.stdout.readline().split()]


def _running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.mark.parametrize("killed", [signal.SIGKILL, signal.SIGINT, None])
def test_what_is_left_of_a_killed_process_ends_and_of_another_is_its_own_business(killed):
    other = subprocess.Popen(["sleep", "60"])
    process, left = _driver()
    try:
        time.sleep(2.5)  # a look of the warden, and a half
        if killed:
            process.send_signal(killed)
        process.communicate()
        deadline = time.monotonic() + (20 if killed else 1)
        while any(map(_running, left)) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert len(left) == 4 and [_running(pid) for pid in left] == [killed is None] * 4
        assert other.poll() is None
    finally:
        for pid in filter(_running, left):
            os.kill(pid, signal.SIGKILL)
        other.kill()
        other.wait()
