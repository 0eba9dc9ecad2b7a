"""A zygote from its owner's side: start it, give it one call at a time, end it."""

import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from vime.sandbox.records import Limits, Mode, Reason, Result, SandboxRefused

_ROOT = Path(__file__).parents[2]
_BOOT = "import sys; sys.path.insert(0, sys.argv[1]); from vime.sandbox.inside.launch import boot; del sys.path[0]; boot(sys.argv[2:])"
_ENVIRONMENT = {
    "PATH": "/usr/bin:/bin", "HOME": "/tmp", "TMPDIR": "/tmp", "LANG": "C.UTF-8", "PYTHONUTF8": "1", "PYTHONHASHSEED": "0",
    "MALLOC_ARENA_MAX": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
}  # fmt: skip
_START_SECONDS, _GRACE_SECONDS = 60.0, 10.0


class Call:
    """One call: how its caller gives it up, from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._control: socket.socket | None = None
        self.given_up = False

    def give_up(self) -> None:
        with self._lock:
            self.given_up = True
            self._end("cancelled")

    def begin(self, control: socket.socket) -> None:
        with self._lock:
            self._control = control
            if self.given_up:
                self._end("cancelled")

    def end(self, reason: Reason) -> None:
        with self._lock:
            self._end(reason)

    def over(self) -> None:
        with self._lock:
            self._control = None

    def _end(self, reason: Reason) -> None:
        if self._control is not None:
            with suppress(OSError):  # it has ended by itself
                self._control.send(reason.encode())


class ZygoteProcess:
    """A warm sandbox that runs one call at a time. SandboxRefused where the system doesn't allow its protections."""

    def __init__(self, mode: Mode, packages: Sequence[str], preload: Sequence[str]) -> None:
        self._folder = tempfile.mkdtemp(prefix="sandbox-") if mode == "rlimits" else ""
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        order = {
            "owner": os.getpid(), "control": theirs.fileno(), "mode": mode, "packages": list(packages),
            "preload": list(preload), "folder": self._folder,
        }  # fmt: skip
        words = [os.path.realpath(sys.executable), "-S", "-s", "-P", "-B", "-c", _BOOT, str(_ROOT), json.dumps(order)]
        with theirs:
            self._keeper = subprocess.Popen(
                words, env=_ENVIRONMENT, cwd="/", pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip
        self._control.settimeout(_START_SECONDS)
        try:
            answer = json.loads(self._control.recv(65536) or b'{"refused": "it ended without a word"}')
        except TimeoutError:
            answer = {"refused": f"it was not ready within {_START_SECONDS:g} seconds"}
        if "refused" in answer:
            self.close()
            raise SandboxRefused(f"the sandbox can't start with {mode}: {answer['refused']}", _FIXES[mode])
        self._control.settimeout(None)

    def run(self, code: str, stdin: str, limits: Limits, call: Call) -> Result:
        """Run one call. A result with the reason `lost` means that this sandbox is gone and a new one is needed."""
        started = time.monotonic()
        out, out_theirs = os.pipe()
        err, err_theirs = os.pipe()
        files = [_sealed_file(text) for text in (code, stdin)]
        try:
            try:
                socket.send_fds(self._control, [json.dumps(asdict(limits)).encode()], [*files, out_theirs, err_theirs])
            finally:
                for fd in (*files, out_theirs, err_theirs):
                    os.close(fd)
            call.begin(self._control)
            streams, answer = self._collect((out, err), limits, call)
        except OSError:
            streams, answer = (b"", b""), None
        finally:
            call.over()
            os.close(out)
            os.close(err)
            self._clean()
        if answer is None:
            answer = {"exit": None, "reason": "lost", "seconds": time.monotonic() - started}
        cut = answer["reason"] == "output"
        return Result(*(_text(stream, limits.output if cut else None) for stream in streams), **answer)

    def close(self) -> None:
        """End it and all that it runs, at once."""
        self._control.close()
        with suppress(ProcessLookupError):
            self._keeper.send_signal(signal.SIGKILL)
        self._keeper.wait()
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _collect(
        self, pipes: tuple[int, int], limits: Limits, call: Call
    ) -> tuple[tuple[bytes, bytes], dict[str, object] | None]:
        """What comes out of the pipes, and the zygote's word on how the call ended; None where there is none."""
        kept = {fd: bytearray() for fd in pipes}
        room = limits.output
        answer = None
        last = time.monotonic() + limits.wall + _GRACE_SECONDS
        poll = select.poll()
        for fd in (*pipes, self._control.fileno()):
            poll.register(fd, select.POLLIN)
        open_ones = {*pipes, self._control.fileno()}
        while open_ones:
            ready = poll.poll(1000 * max(0.0, last - time.monotonic()))
            if not ready:
                return (bytes(kept[pipes[0]]), bytes(kept[pipes[1]])), None
            for fd, _ in ready:
                data = self._control.recv(4096) if fd == self._control.fileno() else os.read(fd, 65536)
                if fd == self._control.fileno():
                    answer = json.loads(data) if data else None
                elif data:
                    kept[fd] += data[:room]
                    if len(data) > room and room >= 0:
                        call.end("output")
                        room = -1
                    room = room - len(data) if room >= 0 else -1
                if not data or fd == self._control.fileno():
                    poll.unregister(fd)
                    open_ones.discard(fd)
        return (bytes(kept[pipes[0]]), bytes(kept[pipes[1]])), answer

    def _clean(self) -> None:
        """Without namespaces the temporary folder is on the host, and is made empty by hand."""
        if self._folder:
            for path in Path(self._folder).iterdir():
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    path.unlink(missing_ok=True)


_FIXES: dict[Mode, str] = {
    "namespaces": "allow unprivileged user namespaces (docs/sandbox.md), or ask for the weak protection by name: rlimits",
    "rlimits": "see docs/sandbox.md",
}


def _sealed_file(text: str) -> int:
    """A file in memory that nobody can change."""
    import fcntl

    fd = os.memfd_create("sandbox", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    with open(fd, "wb", closefd=False) as file:
        file.write(text.encode("utf-8", "surrogatepass"))
    os.lseek(fd, 0, os.SEEK_SET)
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE)
    return fd


def _text(data: bytes, cut_at: int | None) -> str:
    text = data.decode("utf-8", "replace")
    return text if cut_at is None else f"{text}\n[output cut at {cut_at} bytes]"
