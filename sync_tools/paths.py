"""Paths from content (upstream's tree, a ledger, sync.toml, `--path`) are never trusted: they stay inside the tree."""

import re
from collections.abc import Iterable, Iterator, Mapping

from sync_tools.errors import SyncError
from sync_tools.modes import GITLINK, SYMLINK
from sync_tools.tree import Blob, Overlay, Tree

LEAVES = re.compile(r"[\0\\\n\r]")
FIX = "paths are relative and stay inside the tree"


def safe(path: str, where: str) -> str:
    """The path, when it is a plain relative one. Raises SyncError for `..`, absolute paths and git's own folders."""
    parts = path.split("/")
    if any(p in ("", "..", ".") or p.lower() == ".git" for p in parts) or path[:1] == "~" or LEAVES.search(path):
        raise SyncError(f"a path that leaves the tree: {path!r}", where, FIX)
    return path


def parents(path: str) -> Iterator[str]:
    """The folders that a path lies in, the nearest first."""
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def folders_of(paths: Iterable[str]) -> set[str]:
    """Every folder that some path lies in."""
    found: set[str] = set()
    for path in paths:
        for folder in parents(path):
            if folder in found:
                break
            found.add(folder)
    return found


def safe_in(tree: Tree, path: str, where: str) -> str:
    """The path, when besides no folder on the way to it is a link or a file. Raises SyncError."""
    safe(path, where)
    for parent in parents(path):
        blob = tree.blob(parent)
        if blob is not None:
            what = {SYMLINK: "a symbolic link", GITLINK: "a submodule"}.get(blob.mode, "a file")
            raise SyncError(f"a path through {what}: {path!r}", where, f"{parent} is {what} in the fork; {FIX}")
    return path


def refuse_collisions(edits: Mapping[str, Blob | None], tree: Tree, where: str) -> None:
    """Raises SyncError where an edit of `tree` would replace what it does not name: a link, a file or a folder."""
    after = Overlay(tree, edits)
    written = [path for path, blob in edits.items() if blob is not None]
    for path in written:
        safe_in(after, path, where)
    folders = folders_of(after.paths())
    for path in written:
        if path in folders:
            raise SyncError(
                f"a file in the place of a folder: {path!r}", where, f"{path} is a folder in the fork; {FIX}"
            )
