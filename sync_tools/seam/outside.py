"""Run a program of somebody else's: bounded in time and in what is kept of its words, and nothing of it is left behind."""

import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from threading import Thread
from typing import IO

KEPT = 4096


def run(command: Sequence[str], folder: str, timeout: float) -> tuple[int, str]:
    """(exit status, the last line on standard error). What the program started ends with it, and it ends with this process:
    its standard input is then closed. Raises OSError and subprocess.TimeoutExpired."""
    program = subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert program.stdin and program.stderr
    said: list[bytes] = [b""]
    reader = Thread(target=_keep_end, args=(program.stderr, said), daemon=True)
    reader.start()
    try:
        program.wait(timeout)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(program.pid, signal.SIGKILL)
        program.wait()
        program.stdin.close()
        reader.join(1.0)
    lines = said[0].decode("utf-8", "replace").strip().splitlines()
    return program.returncode, lines[-1] if lines else ""


def _keep_end(stream: IO[bytes], said: list[bytes]) -> None:
    while part := os.read(stream.fileno(), 65536):
        said[0] = (said[0] + part)[-KEPT:]
