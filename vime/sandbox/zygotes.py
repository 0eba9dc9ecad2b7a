"""A zygote from its owner's side: start it, give it one call at a time, end it."""

import fcntl
import json
import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from vime.sandbox.call import Call
from vime.sandbox.inside.root_folder import WORK
from vime.sandbox.output import Output
from vime.sandbox.records import Limits, Mode, Result, SandboxRefused

_ROOT = Path(__file__).parents[2]
_BOOT = """\
import sys
sys.path.insert(0, sys.argv[1])
from vime.sandbox.inside.launch import boot
del sys.path[0]
boot(sys.argv[2])
"""
_ENVIRONMENT = {
    "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONUTF8": "1", "PYTHONHASHSEED": "0", "MALLOC_ARENA_MAX": "1",
    "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
}  # fmt: skip
_FIXES: dict[Mode, str] = {
    "namespaces": "allow unprivileged user namespaces (docs/sandbox.md), or ask for the weak protection by name: rlimits",
    "rlimits": "see docs/sandbox.md",
}
_START_SECONDS, _GRACE_SECONDS, _CLOSE_SECONDS = 60.0, 10.0, 5.0


class ZygoteProcess:
    """A warm sandbox that runs one call at a time. SandboxRefused where the system doesn't allow its protections."""

    def __init__(self, mode: Mode, packages: Sequence[str], preload: Sequence[str]) -> None:
        self._folder = tempfile.mkdtemp(prefix="sandbox-") if mode == "rlimits" else ""
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        order = {
            "owner": os.getpid(), "control": theirs.fileno(), "mode": mode, "packages": list(packages),
            "preload": list(preload), "folder": self._folder,
        }  # fmt: skip
        work = self._folder or WORK
        words = [os.path.realpath(sys.executable), "-S", "-s", "-P", "-B", "-c", _BOOT, str(_ROOT), json.dumps(order)]
        with theirs:
            self._keeper = subprocess.Popen(
                words, env=_ENVIRONMENT | {"HOME": work, "TMPDIR": work}, cwd="/", pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip
        refused = self._refused()
        if refused:
            self.close()
            raise SandboxRefused(f"the sandbox can't start with {mode}: {refused}", _FIXES[mode])

    def run(self, code: str, stdin: str, limits: Limits, call: Call) -> Result:
        """Run one call. A result with the reason `lost` means that this sandbox is gone and a new one is needed."""
        started = time.monotonic()
        output = Output(limits.output)
        with ExitStack() as ours:
            ends = [os.pipe() for _ in range(2)]
            for read, _ in ends:
                ours.callback(os.close, read)
            with ExitStack() as theirs:
                for _, write in ends:
                    theirs.callback(os.close, write)
                files = [_sealed_file(text, theirs) for text in (code, stdin)]
                sent = [*files, *(write for _, write in ends)]
                with suppress(OSError):  # it is gone, which shows below
                    socket.send_fds(self._control, [json.dumps(asdict(limits)).encode()], sent)
            call.begin(self._control)
            try:
                answer = self._wait([read for read, _ in ends], output, limits, call)
            finally:
                call.over()
        if answer is None:
            answer = {"exit": None, "reason": "lost", "seconds": time.monotonic() - started}
        return Result(output.text(0), output.text(1), **answer)

    def close(self) -> None:
        """End it and all that it runs, at once."""
        self._control.close()  # which the zygote takes for the end
        try:
            self._keeper.wait(_CLOSE_SECONDS)
        except subprocess.TimeoutExpired:
            self._keeper.kill()
            self._keeper.wait()
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _refused(self) -> str:
        """Why it doesn't start; nothing once it is ready."""
        self._control.settimeout(_START_SECONDS)
        try:
            answer = self._control.recv(65536)
        except TimeoutError:
            return f"it was not ready within {_START_SECONDS:g} seconds"
        self._control.settimeout(None)
        return json.loads(answer)["refused"] if answer else f"it ended without a word (exit {self._keeper.wait()})"

    def _wait(self, pipes: list[int], output: Output, limits: Limits, call: Call) -> dict[str, Any] | None:
        """Read until both pipes are closed and the zygote has told how the call ended; None where it doesn't."""
        control, answer = self._control.fileno(), None
        left = {*pipes, control}
        poll = select.poll()
        for fd in left:
            poll.register(fd, select.POLLIN)
        last = time.monotonic() + limits.wall + _GRACE_SECONDS
        while left:
            ready = poll.poll(1000 * max(0.0, last - time.monotonic()))
            if not ready:
                return None
            for fd, _ in ready:
                data = _read(fd)
                if fd == control:
                    answer = json.loads(data) if data else None
                elif data:
                    if output.add(pipes.index(fd), data):
                        call.end("output")
                    continue
                poll.unregister(fd)
                left.discard(fd)
        return answer


def _read(fd: int) -> bytes:
    try:
        return os.read(fd, 65536)
    except ConnectionResetError:
        return b""


def _sealed_file(text: str, owner: ExitStack) -> int:
    """A file in memory that nobody can change, which `owner` closes."""
    fd = os.memfd_create("sandbox", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    owner.callback(os.close, fd)
    with open(fd, "wb", closefd=False) as file:
        file.write(text.encode("utf-8", "surrogatepass"))
    os.lseek(fd, 0, os.SEEK_SET)
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE)
    return fd
