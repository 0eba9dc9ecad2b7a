"""A process beside the driver that ends what a driver leaves which was killed.

Ray's servers end with the driver; its agents do not, and its workers only where process 1 adopts them (under a user's systemd
another one does). The warden knows the driver's descendants from looking twice a second, and holds the other end of a pipe:
when that closes without a word the driver is gone, and what is known is killed. Standard library only, run as a file: it
starts at once, and imports nothing.
"""

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_LOOK = 0.5
_LONGEST = 10.0
"""Seconds between two looks, and after which it gives up."""
_DONE = b"done"
Known = dict[int, str]
"""Processes by number; with the time of the start, as numbers are used again."""


@contextmanager
def warden() -> Iterator[None]:
    """Watch over this process for as long as the block runs. What an interrupt leaves ends as well."""
    command = [sys.executable, "-S", "-E", __file__, str(os.getpid())]
    watching = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True)
    word = _DONE
    try:
        yield
    except KeyboardInterrupt:
        word = b""  # what was being ended may not have been
        raise
    finally:
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            watching.communicate(word, timeout=_LONGEST)


def watch(driver: int) -> None:
    """Until the pipe closes; then, unless it said that all is well, kill what is left of `driver`'s."""
    known: Known = {}
    while not select.select([0], [], [], _LOOK)[0]:
        known = _below({driver}, known)
    if os.read(0, len(_DONE)) == _DONE:
        return
    deadline = time.monotonic() + _LONGEST
    while (known := _below(set(), known)) and time.monotonic() < deadline:
        for pid in known:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)


def _below(roots: set[int], known: Known) -> Known:
    """Of what is known what still runs, and what was started by it or by `roots`."""
    running = dict(_running())
    found = {pid for pid, start in known.items() if pid in running and running[pid][1] == start}
    family = roots | found
    while more := {pid for pid, (parent, _) in running.items() if parent in family} - family:
        family |= more
    return {pid: running[pid][1] for pid in family - roots - {os.getpid()} if pid in running}


def _running() -> Iterator[tuple[int, tuple[int, str]]]:
    """(number, (its parent's, start)) of every process of this host that runs."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                # The name, in parentheses, may hold anything.
                fields = (entry / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
            except OSError:
                continue
            if fields[0] not in "ZX":
                yield int(entry.name), (int(fields[1]), fields[19])


if __name__ == "__main__":
    watch(int(sys.argv[1]))
