"""The warm interpreter: it forks a fresh child for each call, watches it, and ends all that the call left behind."""

import json
import os
import select
import signal
import socket
import struct
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from vime.sandbox.inside import syscalls as sys_
from vime.sandbox.inside.worker import Job
from vime.sandbox.records import Limits, Reason

_LOOK_EVERY = 0.02
"""Seconds between two looks at the memory of all processes of a call."""
_PAGE = os.sysconf("SC_PAGE_SIZE")
_STATUS = struct.Struct("=id")


@dataclass(frozen=True)
class Zygote:
    """A prepared process. `proc` is its pid namespace's /proc, -1 where it has no namespaces."""

    control: socket.socket
    fork: Callable[[], int]
    empty_folder: Callable[[int], None]
    """Makes a new temporary folder of so many bytes, and goes there."""
    proc: int
    base_memory: int
    base_processes: int

    @property
    def namespaces(self) -> bool:
        return self.proc >= 0

    def serve(self) -> Job:
        """Serve calls until the owner is gone. Returns in the child that is to run a call, and nowhere else."""
        while True:
            message, fds, *_ = socket.recv_fds(self.control, 4096, 4)
            if not message:
                os._exit(0)
            if fds:  # without, it is the end of a call that has ended already
                job = self._call(Limits(**json.loads(message)), fds)
                if job:
                    return job

    def _call(self, limits: Limits, fds: list[int]) -> Job | None:
        self.empty_folder(limits.disk)
        status, told = os.pipe()
        started = time.monotonic()
        first = self.fork()
        if first == 0:
            os.close(status)
            _watch_over_worker(told)
            self.control.detach()
            return Job(*fds, limits, self.base_memory, self.base_processes, self.namespaces)
        for fd in (told, *fds):
            os.close(fd)
        reason = self._wait(first, limits, started)
        end = os.read(status, _STATUS.size)
        os.close(status)
        self.control.send(json.dumps(_outcome(end, reason, limits) | {"seconds": time.monotonic() - started}).encode())
        return None

    def _wait(self, first: int, limits: Limits, started: float) -> Reason | None:
        """Wait for the end of the call's first process, or bring it about; the reason is given for the latter."""
        ended = os.pidfd_open(first)
        poll = select.poll()
        poll.register(ended, select.POLLIN)
        poll.register(self.control, select.POLLIN)
        reason: Reason | None = None
        while reason is None:
            left = started + limits.wall - time.monotonic()
            ready = {fd for fd, _ in poll.poll(1000 * max(0.0, min(left, _LOOK_EVERY)))}
            if ended in ready:
                break
            if self.control.fileno() in ready:
                reason = self._asked_to_end()
            elif left <= 0:
                reason = "wall"
            elif self.namespaces and self._memory() > limits.memory:
                reason = "memory"
        os.close(ended)
        for end in (os.kill, os.killpg):  # the group is what there is without a pid namespace
            with suppress(ProcessLookupError):
                end(first, signal.SIGKILL)
        os.waitpid(first, 0)  # of a pid namespace's first process: after all the others are gone
        return reason

    def _asked_to_end(self) -> Reason:
        word = self.control.recv(64).decode()
        if not word:
            os._exit(0)
        return word  # type: ignore[return-value]

    def _memory(self) -> int:
        """Bytes that the call's processes have beyond what they were born with."""
        own = _private_memory(self.proc, "1")
        ids = (name for name in os.listdir(self.proc) if name.isdigit() and name != "1")  # noqa: PTH208 (a descriptor)
        return sum(max(0, _private_memory(self.proc, name) - own) for name in ids)


def _private_memory(proc: int, pid: str) -> int:
    try:
        fd = os.open(f"{pid}/statm", os.O_RDONLY, dir_fd=proc)
        try:
            words = os.read(fd, 256).split()
        finally:
            os.close(fd)
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return (int(words[1]) - int(words[2])) * _PAGE


def _watch_over_worker(told: int) -> None:
    """As the call's first process: fork the worker, tell how it ended, and end. Returns in the worker."""
    os.setsid()
    sys_.prctl(sys_.PR_SET_PDEATHSIG, signal.SIGKILL)
    worker = os.fork()
    if worker == 0:
        sys_.prctl(sys_.PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        return
    try:
        keep = os.dup2(told, 3)
        os.closerange(0, 3)
        os.closerange(4, os.sysconf("SC_OPEN_MAX"))
        pid = 0
        while pid != worker:
            pid, status, usage = os.wait4(-1, 0)
        os.write(keep, _STATUS.pack(status, usage.ru_utime + usage.ru_stime))
    finally:
        os._exit(0)


def _outcome(end: bytes, reason: Reason | None, limits: Limits) -> dict[str, object]:
    if len(end) < _STATUS.size:
        return {"exit": None, "reason": reason or "lost", "cpu_seconds": 0.0}
    status, cpu = _STATUS.unpack(end)
    code = os.waitstatus_to_exitcode(status)
    if reason is None and code < 0:
        out_of_time = -code == signal.SIGXCPU or (-code == signal.SIGKILL and cpu >= limits.cpu)
        reason = "cpu" if out_of_time else "signal"
    return {"exit": code, "reason": reason or "exit", "cpu_seconds": cpu}


def own_address_space() -> int:
    """Bytes of address space that this process has. Reads the host's /proc, so before it is left."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * _PAGE
