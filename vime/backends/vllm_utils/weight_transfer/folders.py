"""Folders of published weights: their names, what lies in them, and a whole copy of one. Standard library only."""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PREFIX, _NEW, _OLD = "weight_v", ".new", ".old"


def version_folder(root: Path, number: int) -> Path:
    """Where version `number` is published below `root`; upstream's name for it."""
    return root / f"{_PREFIX}{number:06d}"


def tidy(root: Path, keep_versions: bool) -> int:
    """Make `root` if there is none, and remove what a trainer that was killed left there: parts of versions and, unless
    they are kept, versions. The highest number of a version that was there."""
    root.mkdir(parents=True, exist_ok=True)
    last = 0
    for folder in root.glob(f"{_PREFIX}*"):
        number = folder.name.removeprefix(_PREFIX).removesuffix(_NEW)
        if not number.isdecimal():
            continue
        last = max(last, int(number))
        if folder.suffix == _NEW or not keep_versions:
            shutil.rmtree(folder, ignore_errors=True)
    return last


def weight_files(folder: Path) -> dict[str, int]:
    """The files of weights in `folder` and their sizes; empty where there is no such folder."""
    return {path.name: path.stat().st_size for path in sorted(folder.glob("*.safetensors"))}


def copy_version(root: Path, number: int, target: Path) -> None:
    """Put version `number` in the place of `target`; the one that was there goes when the new one is complete.

    Several engines of a host may ask for it at once: one copies, and the others find it there. Raises FileNotFoundError
    where the version was not published, OSError where it finds no room; nothing of it is left then.
    """
    source = version_folder(root, number)
    files = weight_files(source)
    if not files:
        raise FileNotFoundError(f"{source} holds no weights")
    with _alone_in(target.parent):
        if weight_files(target) != files:
            _replace(target, source)


def _replace(target: Path, source: Path) -> None:
    new, old = target.with_name(target.name + _NEW), target.with_name(target.name + _OLD)
    for leftover in (new, old):
        shutil.rmtree(leftover, ignore_errors=True)
    try:
        shutil.copytree(source, new)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
    if target.exists():
        target.rename(old)
    new.rename(target)
    shutil.rmtree(old, ignore_errors=True)


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """No other process of this host is in the block with this folder at the same time."""
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
