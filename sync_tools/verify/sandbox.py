"""Run a command of a tree's in a sandbox: a time limit, no network beyond loopback, no secrets in its environment.

Where the system allows it, the command gets a network namespace of its own with only loopback (`namespace`); elsewhere
Python processes are given a `sitecustomize` that refuses other addresses (`python`), which a determined program can evade.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Isolation = Literal["namespace", "python"]
KEPT = frozenset({"PATH", "LANG", "LC_ALL", "TZ", "TMPDIR", "SYSTEMROOT", "LD_LIBRARY_PATH", "VIRTUAL_ENV"})
LIMIT_OF_OUTPUT = 20_000

# Brings `lo` up in the new namespace (SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP), then becomes the command.
LOOPBACK = """
import fcntl, os, socket, struct, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
    flags = struct.unpack("16sh", fcntl.ioctl(s, 0x8913, struct.pack("16sh", b"lo", 0)))[1]
    fcntl.ioctl(s, 0x8914, struct.pack("16sh", b"lo", flags | 1))
os.execvp(sys.argv[1], sys.argv[1:])
"""

SITECUSTOMIZE = """
import ipaddress, socket

def _refuse(address):
    host = address[0] if isinstance(address, tuple) else "127.0.0.1"
    try:
        local = host in ("", "localhost") or ipaddress.ip_address(host).is_loopback
    except ValueError:
        local = False
    if not local:
        raise PermissionError(f"no network beyond loopback: {host}")

class _Local(socket.socket):
    def connect(self, address):
        _refuse(address)
        return super().connect(address)

    def connect_ex(self, address):
        _refuse(address)
        return super().connect_ex(address)

    def sendto(self, data, *rest):
        _refuse(rest[-1])
        return super().sendto(data, *rest)

socket.socket = _Local
"""


@dataclass(frozen=True)
class Outcome:
    """`code` is None when the time limit ended it. `output` is the end of stdout and stderr together."""

    code: int | None
    output: str
    isolation: Isolation


def run_isolated(command: Sequence[str], cwd: Path, scratch: Path, timeout: float) -> Outcome:
    """Run a command in `cwd`; its process group is killed afterwards, whatever it left running."""
    isolation = available()
    environment = _environment(cwd, scratch, isolation)
    log = scratch / "output"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*(_namespace() if isolation == "namespace" else ()), *command],
            cwd=cwd,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            _kill_group(process)
    return Outcome(code, log.read_bytes()[-LIMIT_OF_OUTPUT:].decode("utf-8", "replace"), isolation)


def available() -> Isolation:
    """The strongest isolation that this system gives."""
    if sys.platform != "linux" or shutil.which("unshare") is None:
        return "python"
    try:
        probe = subprocess.run([*_namespace(), "true"], capture_output=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return "python"
    return "namespace" if probe.returncode == 0 else "python"


def _namespace() -> tuple[str, ...]:
    return (
        "unshare",
        "--user",
        "--map-root-user",
        "--net",
        "--pid",
        "--fork",
        "--kill-child",
        sys.executable,
        "-I",
        "-c",
        LOOPBACK,
    )


def _environment(cwd: Path, scratch: Path, isolation: Isolation) -> dict[str, str]:
    """What the command sees: no tokens, no keys, no home of the user's."""
    home, site = scratch / "home", scratch / "site"
    home.mkdir(exist_ok=True)
    paths = [str(cwd)]
    if isolation == "python":
        site.mkdir(exist_ok=True)
        (site / "sitecustomize.py").write_text(SITECUSTOMIZE)
        paths.insert(0, str(site))
    kept = {k: v for k, v in os.environ.items() if k in KEPT}
    return kept | {
        "HOME": str(home),
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
    }


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
