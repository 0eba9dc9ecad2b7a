"""A folder that is there whole or not at all, whenever the process is killed."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_folder(target: Path) -> Iterator[Path]:
    """A temporary folder beside `target`, to be filled; it takes its place when the block ends without an error.

    Everything in it has reached the disk by then. What `target` was before is gone afterwards; a kill between leaves
    it, or the new one, under its own name or, in the instant between two renames, under a hidden one beside.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{target.name}.new-", dir=target.parent))
    try:
        yield temporary
        sync_tree(temporary)
        replace_folder(temporary, target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def replace_folder(new: Path, target: Path) -> None:
    """Rename `new` to `target`, whose former content goes."""
    new.chmod(0o755)
    if target.exists():
        old = Path(tempfile.mkdtemp(prefix=f".{target.name}.old-", dir=target.parent))
        target.rename(old)
        new.rename(target)
        shutil.rmtree(old, ignore_errors=True)
    else:
        new.rename(target)
    sync(target.parent)


def sync_tree(folder: Path) -> None:
    """Wait until every file below `folder` is on the disk."""
    for path in sorted(folder.rglob("*")):
        sync(path)
    sync(folder)


def sync(path: Path) -> None:
    """Wait until the file, or the names in the folder, are on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_whole(path: Path, text: str) -> None:
    """Replace the small file `path` by `text`: a reader sees the old or the new one."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
        sync(path.parent)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
