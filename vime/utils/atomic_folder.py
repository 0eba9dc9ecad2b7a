"""A folder that is there whole or not at all, whenever the process is killed."""

import ctypes
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vime.utils.atomic_file import sync

_HERE, _EXCHANGE = -100, 2  # AT_FDCWD and RENAME_EXCHANGE of Linux


@contextmanager
def whole_folder(target: Path) -> Iterator[Path]:
    """A hidden folder beside `target`, to be filled; it takes its place when the block ends without an error.

    Everything in it has reached the disk by then. One writer at a time.
    """
    hidden = target.parent / f".{target.name}.new"
    shutil.rmtree(hidden, ignore_errors=True)
    hidden.mkdir(parents=True)
    try:
        yield hidden
        sync_tree(hidden)
        replace_folder(hidden, target)
    finally:
        shutil.rmtree(hidden, ignore_errors=True)


def replace_folder(new: Path, target: Path) -> None:
    """Rename `new` to `target`. What `target` was is removed; at no moment is there neither, where the file system can
    exchange two names (Linux's local ones do; elsewhere what it was lies beside, as .NAME.old, for an instant)."""
    if not target.exists():
        new.rename(target)
    elif _exchanged(new, target):
        shutil.rmtree(new)
    else:
        old = target.parent / f".{target.name}.old"
        shutil.rmtree(old, ignore_errors=True)
        target.rename(old)
        new.rename(target)
        shutil.rmtree(old)
    sync(target.parent)


def _exchanged(one: Path, other: Path) -> bool:
    """Exchange two names at once; False where that cannot be done."""
    rename = getattr(ctypes.CDLL(None), "renameat2", None)
    return rename is not None and rename(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE) == 0


def sync_tree(folder: Path) -> None:
    """Wait until every file below `folder` is on the disk."""
    for path in sorted(folder.rglob("*")):
        sync(path)
    sync(folder)
