"""Processes that compare mathematical answers and may be killed: model text is never parsed in the run's own process."""

from __future__ import annotations

import atexit
import contextlib
import json
import logging
import os
import queue
import select
import signal
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

logger = logging.getLogger(__name__)

_PROGRAM = Path(__file__).with_name("grader_process.py")
_START_SECONDS = 60.0
GRADE_SECONDS = 10.0
"""How long one comparison may take; what takes longer counts as not equal."""


class GraderFailed(RuntimeError):
    """A grader process did not answer in time, or ended."""


class GraderMissing(RuntimeError):
    """The grader cannot start."""


class Grader:
    """One process, in a process group of its own."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def equal(self, truth: str, given: str, seconds: float) -> bool:
        """Whether the answers are equal. Raises GraderFailed, with the process gone, and GraderMissing."""
        if self._process is None:
            self._start()
        try:
            self._process.stdin.write(json.dumps([truth, given]).encode() + b"\n")
            self._process.stdin.flush()
            return json.loads(self._line(seconds))
        except (OSError, ValueError, GraderFailed) as error:
            self.kill()
            raise GraderFailed(str(error)) from error

    def kill(self) -> None:
        """End the process and what it started."""
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdin.close()
        process.stdout.close()

    def _start(self) -> None:
        command = [sys.executable, "-I", str(_PROGRAM)]
        environment = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ}
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            cwd="/",
            start_new_session=True,
            bufsize=0,
        )
        try:
            hello = self._line(_START_SECONDS)
        except GraderFailed as error:
            self.kill()
            raise GraderMissing(f"the grader of mathematics does not start: {error}") from error
        if json.loads(hello) != "ready":
            self.kill()
            raise GraderMissing(f"the grader of mathematics does not start: {json.loads(hello)}")

    def _line(self, seconds: float) -> bytes:
        until, parts = time.monotonic() + seconds, b""
        while not parts.endswith(b"\n"):
            ready, _, _ = select.select([self._process.stdout], [], [], max(0.0, until - time.monotonic()))
            if not ready:
                raise GraderFailed(f"no answer within {seconds:g} s")
            more = os.read(self._process.stdout.fileno(), 65536)
            if not more:
                raise GraderFailed("the process ended")
            parts += more
        return parts


class GraderPool:
    """Several graders, each started when it is first needed. `counts` has what they could not tell, by reason."""

    def __init__(self, size: int, seconds: float = GRADE_SECONDS) -> None:
        self.seconds = seconds
        self.counts: Counter[str] = Counter()
        self.threads = ThreadPoolExecutor(size, thread_name_prefix="vime-grader")
        """For callers that must not block."""
        self._all: list[Grader] = []
        self._free: queue.LifoQueue[Grader] = queue.LifoQueue()
        self._add(size)

    def equal(self, truth: str, given: str) -> bool:
        """Whether the answers are equal; not, where the grader cannot tell. Blocks. Raises GraderMissing."""
        grader = self._free.get()
        try:
            return grader.equal(truth, given, self.seconds)
        except GraderFailed as error:
            self.counts["grader_failed"] += 1
            logger.warning("graded as wrong: %.80r against %.80r: %s", given, truth, error)
            return False
        finally:
            self._free.put(grader)

    @property
    def size(self) -> int:
        return len(self._all)

    def grow(self, size: int) -> None:
        """Have at least `size` graders from now on."""
        if size > self.size:
            self._add(size - self.size)
            self.threads.shutdown(wait=False)  # what waits there is graded all the same
            self.threads = ThreadPoolExecutor(size, thread_name_prefix="vime-grader")

    def _add(self, count: int) -> None:
        for grader in [Grader() for _ in range(count)]:
            self._all.append(grader)
            self._free.put(grader)

    def close(self) -> None:
        """End them all."""
        for grader in self._all:
            grader.kill()
        self.threads.shutdown(wait=False, cancel_futures=True)


@cache
def graders() -> GraderPool:
    """The process's own pool: one grader, until a run asks for more (--rm-processes)."""
    pool = GraderPool(1)
    atexit.register(pool.close)
    return pool
