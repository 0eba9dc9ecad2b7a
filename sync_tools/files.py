"""Files of a checkout, written whole or not at all, and by one process at a time."""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sync_tools.errors import SyncError


def write_out(path: Path, data: bytes) -> None:
    """Write what a person asked for to the place that they named: a link is followed, and a device or pipe is written to.
    Raises SyncError for a folder."""
    if path.is_dir():
        raise SyncError("a folder is in the way", str(path), "name a file")
    if path.exists() and not path.is_file():
        path.write_bytes(data)
    else:
        write_atomically(path.resolve(), data)


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file whole or not at all, with its folder where that is missing; a file that is there keeps its mode."""
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o644
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    scratch = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        scratch.chmod(mode)
        scratch.replace(path)
    finally:
        scratch.unlink(missing_ok=True)


@contextmanager
def alone(folder: Path, *, wait: bool = True) -> Iterator[None]:
    """One process at a time; another one waits, or else gets an OSError. The lock is the kernel's, on the folder: a process
    that is killed leaves nothing behind. Where a file system knows no such locks, nobody waits."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if not wait:
                raise
        yield
    finally:
        os.close(handle)
