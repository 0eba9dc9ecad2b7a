"""Workers of the pool do not outlive the process that started them."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

PROGRAM = """
import os, sys, time
from sync_tools.translate.pool import translate_many

def slow(path, data):
    os.write(1, b"%d\\n" % os.getpid())  # one write: two workers share the pipe
    time.sleep(60)

translate_many(slow, [(str(n), b"x" * 30_000) for n in range(40)], 2)
"""


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"


def test_no_worker_outlives_a_parent_that_was_killed():
    parent = subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, text=True)
    workers = [int(parent.stdout.readline()) for _ in range(2)]
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    until = time.monotonic() + 5
    while any(map(alive, workers)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(map(alive, workers))
