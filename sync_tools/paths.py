"""Paths from content (upstream's tree, a ledger, sync.toml, `--path`) are never trusted: they stay inside the tree."""

from collections.abc import Mapping
from pathlib import PurePosixPath

from sync_tools.errors import SyncError
from sync_tools.tree import Blob, Overlay, Tree
from sync_tools.upstream.changeset import GITLINK, SYMLINK

FIX = "paths are relative and stay inside the tree"


def safe(path: str, where: str) -> str:
    """The path, when it is a plain relative one. Raises SyncError for `..`, absolute paths and git's own folders."""
    parts = PurePosixPath(path).parts
    plain = path == str(PurePosixPath(path)) and parts and not path.startswith(("/", "~"))
    if not plain or any(p in ("..", ".") or p.lower() == ".git" for p in parts) or any(c in path for c in "\0\\\n\r"):
        raise SyncError(f"a path that leaves the tree: {path!r}", where, FIX)
    return path


def safe_in(tree: Tree, path: str, where: str) -> str:
    """The path, when besides no folder on the way to it is a link or a file. Raises SyncError."""
    safe(path, where)
    for parent in PurePosixPath(path).parents:
        blob = tree.blob(str(parent)) if str(parent) != "." else None
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
    folders = {str(parent) for path in after.paths() for parent in PurePosixPath(path).parents}
    for path in written:
        if path in folders:
            raise SyncError(
                f"a file in the place of a folder: {path!r}", where, f"{path} is a folder in the fork; {FIX}"
            )
