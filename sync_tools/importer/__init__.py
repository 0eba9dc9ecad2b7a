"""`sync import`: a whole tree of upstream's, translated, as a git repository with one commit (or as files of one that is there)."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from sync_tools.config import Config
from sync_tools.errors import SyncError
from sync_tools.gitio import Repo
from sync_tools.imported import new_repository, refuse_to_lose, write_files
from sync_tools.importer.report import Imported, account
from sync_tools.importer.tree import Tree, translated_tree

__all__ = ["Imported", "Tree", "import_tree", "translated_tree"]


def import_tree(
    upstream: Repo, rev: str, to: Path, config: Config, *, cache: Path | None = None, workers: int = 2
) -> Imported:
    """Translate upstream at `rev` into `to`. Raises SyncError, with nothing written, for a bad revision, path or target."""
    began = time.monotonic()
    new = _is_new(to)
    tree = translated_tree(upstream, rev, config, cache=cache, workers=workers)
    with ThreadPoolExecutor(1) as beside:
        # Files are written while this thread counts.
        commit = beside.submit(_write, to, new, tree, config)
        done = account(tree, config)
    return replace(done, commit=commit.result(), seconds=round(time.monotonic() - began, 3))


def _is_new(to: Path) -> bool:
    """Whether `to` becomes a repository; else it lies in one. Raises SyncError where neither can be."""
    if _lies_in_repository(to):
        return False
    if to.exists() and (not to.is_dir() or any(to.iterdir())):
        raise SyncError("the folder is not empty", str(to), "name a new folder with --to")
    return True


def _write(to: Path, new: bool, tree: Tree, config: Config) -> str | None:
    """The new repository's commit; None where the files were written into a repository that is there."""
    if not new:
        refuse_to_lose(to, tree.blobs)
        write_files(to, tree.blobs)
        return None
    subject = f"Import {config.upstream.repo}@{tree.commit[:12]}"
    return new_repository(to, tree.blobs, subject, {"Upstream-Commit": tree.commit})


def _lies_in_repository(to: Path) -> bool:
    """Whether the nearest folder that is there, at or above `to`, belongs to a work tree. Raises SyncError for git's own."""
    here = to.absolute()
    nearest = next(place for place in (here, *here.parents) if place.is_dir())
    try:
        found = Repo.open(nearest)
    except SyncError:
        return False
    if found.work_tree is None:
        raise SyncError("the folder belongs to git", str(to), "name a folder outside of the repository's own with --to")
    return True
