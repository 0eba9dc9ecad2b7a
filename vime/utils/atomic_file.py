"""Files that are whole or not there."""

import os
import threading
from pathlib import Path


def write_atomic(path: Path, data: bytes, durable: bool = True) -> Path:
    """Write `data` to `path`: a reader sees the old file or the new one, and so does who comes after a crash.

    Where not `durable`, that holds for a crash of this process and not of the machine, and costs no wait for the disk.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_native_id()}")
    try:
        with fresh.open("wb") as file:
            file.write(data)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)
    if durable:
        sync(path.parent)
    return path


def sync(path: Path) -> None:
    """Wait until the file, or the names in the folder, are on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
