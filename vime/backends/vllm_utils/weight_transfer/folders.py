"""Folders of published weights: their names, what lies in them, and a whole copy of one. Standard library only."""

import shutil
from pathlib import Path


def version_folder(root: Path, number: int) -> Path:
    """Where version `number` is published below `root`; upstream's name for it."""
    return root / f"weight_v{number:06d}"


def weight_files(folder: Path) -> dict[str, int]:
    """The files of weights in `folder` and their sizes; empty where there is no such folder."""
    return {path.name: path.stat().st_size for path in sorted(folder.glob("*.safetensors"))}


def copy_version(root: Path, number: int, target: Path) -> None:
    """Put version `number` in the place of `target`; the one that was there goes when the new one is complete.

    Raises FileNotFoundError where the version was not published.
    """
    source = version_folder(root, number)
    if not weight_files(source):
        raise FileNotFoundError(f"{source} holds no weights")
    new, old = target.with_name(target.name + ".new"), target.with_name(target.name + ".old")
    for leftover in (new, old):
        shutil.rmtree(leftover, ignore_errors=True)
    shutil.copytree(source, new)
    if target.exists():
        target.rename(old)
    new.rename(target)
    shutil.rmtree(old, ignore_errors=True)
