"""A server's process: it writes to a log, ends as a whole group, and never outlives its owner.

The owner holds one end of a pipe, the group the other. When the owner is gone, however it went, the kernel closes its
end and sends SIGKILL to the group. (A parent-death signal would come as soon as the *thread* that started the process
ends, which a thread pool's may.)
"""

import contextlib
import fcntl
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

_F_SETSIG = 10  # of Linux; Python's fcntl has it from 3.13 on
_TAIL_BYTES = 256 * 1024
_PREFIX = re.compile(r"^(?:\(\w[^)]*pid=\d+\) )?(?:[A-Z]+ [\d-]+ [\d:]+ \[[^\]]*\] ?)?")
"""What vLLM puts before a line: the process, the level, the time, the place."""
_ERROR = re.compile(
    r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt): .+|vllm\S*: error: .+|serve\.py: error: .+"
)
_CONSEQUENCE = "See root cause above"
_LISTS_ERRORS = "validation error"
"""The line ends with their number, and they follow."""
_NOISE = re.compile(r"nanobind: | - (?:leaked |\.\.\. skipped )|See https://nanobind")
"""What a library of vLLM's says at every exit."""
_ASIDE = re.compile(r"\s|\S+\.py:\d+: \w*Warning: |\[W\d{4} ")
"""What goes on with the line above, and what Python and torch warn of: it does not say what is being done."""


class ServerProcess:
    """One process and what it starts, in a session of its own, with output and errors in the file `log`."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str], log: Path) -> None:
        self.argv, self.env, self.log = tuple(argv), dict(env), log
        self._process: subprocess.Popen | None = None
        self._lifeline: int | None = None

    def start(self) -> None:
        """Start it; what is left of an earlier start ends first. What the log held before stays, and is not shown by `tail`."""
        self.stop(grace=0.0)
        self.log.parent.mkdir(parents=True, exist_ok=True)
        theirs, self._lifeline = os.pipe()
        try:
            with self.log.open("ab") as out:
                self._log_start = out.tell()
                self._process = subprocess.Popen(
                    self.argv,
                    env=self.env,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    pass_fds=(theirs,),
                )
            _kill_when_other_end_closes(theirs, self._process.pid)
        finally:
            os.close(theirs)

    @property
    def pid(self) -> int | None:
        """The process's number, which is its group's too; None before it was started."""
        return self._process.pid if self._process else None

    @property
    def exit_code(self) -> int | None:
        """How it ended: a status, or a signal's number below zero; None while it runs or before it was started."""
        return self._process.poll() if self._process else None

    def exit_within(self, seconds: float) -> int | None:
        """As `exit_code`, where it has `seconds` to end: one that is killed hangs up some time before it is gone."""
        if self._process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(seconds)
        return self.exit_code

    @property
    def alive(self) -> bool:
        """Whether it was started and runs."""
        return self._process is not None and self._process.poll() is None

    def tail(self, lines: int = 30) -> str:
        """The last lines of what it wrote since it was started."""
        return "\n".join(self._lines()[-lines:])

    def last_line(self) -> str:
        """The last thing it said of what it does, without what vLLM puts before its lines; empty where it said nothing."""
        said = (_PREFIX.sub("", line).strip() for line in reversed(self._lines()) if not _ASIDE.match(line))
        return next((line for line in said if line), "")

    def cause(self) -> str:
        """The first error of those in the end of its log that are not the consequence of another; empty where none is."""
        said = [_PREFIX.sub("", line) for line in self._lines()]
        found = (i for i, line in enumerate(said) if _ERROR.match(line) and _CONSEQUENCE not in line)
        first = next(found, None)
        if first is None:
            return ""
        following = said[first + 1 : first + 2] if _LISTS_ERRORS in said[first] else []
        return " ".join(line.strip() for line in (said[first], *following))

    def kill(self) -> None:
        """End it at once, as a crash would; its children too."""
        if self._process is not None:
            _signal_group(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def stop(self, grace: float = 10.0) -> None:
        """Ask it to end, wait `grace` seconds, then kill it; nothing of its group is left when this returns."""
        if self._process is None:
            return
        if self.alive:
            self._process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(grace)
        self.kill()
        deadline = time.monotonic() + 5.0
        while group_members(self._process.pid) and time.monotonic() < deadline:
            time.sleep(0.02)
        if self._lifeline is not None:
            os.close(self._lifeline)
            self._lifeline = None

    def _lines(self) -> list[str]:
        if self._process is None or not self.log.exists():
            return []
        with self.log.open("rb") as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(max(self._log_start, end - _TAIL_BYTES))
            text = file.read().decode("utf-8", "replace")
        return [line for line in text.splitlines() if not _NOISE.match(line)]


def group_members(group: int) -> list[int]:
    """The processes of a group that run; those that ended and wait to be reaped do not count."""
    return [pid for pid, of, running in _processes() if of == group and running]


def _processes() -> Iterator[tuple[int, int, bool]]:
    """(number, group, whether it runs) of every process of this host."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                # The name, in parentheses, may hold anything.
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            # A process whose first thread has ended still has its files while another thread is ending.
            yield int(entry.name), int(fields[2]), fields[0] not in "ZX" or int(fields[17]) > 1


def _kill_when_other_end_closes(pipe: int, group: int) -> None:
    fcntl.fcntl(pipe, fcntl.F_SETOWN, -group)
    fcntl.fcntl(pipe, _F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(pipe, fcntl.F_SETFL, fcntl.fcntl(pipe, fcntl.F_GETFL) | os.O_ASYNC)


def _signal_group(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
