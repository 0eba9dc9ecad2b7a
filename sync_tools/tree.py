"""Trees of files as values, so that everything but the first and the last step of a port works without touching git."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from sync_tools.modes import REGULAR


@dataclass(frozen=True)
class Blob:
    """A file's bytes and its git mode; `data` of a symlink is its target."""

    data: bytes
    mode: int = REGULAR


class Tree(Protocol):
    """A set of files. Paths are relative, with forward slashes."""

    def paths(self) -> frozenset[str]: ...

    def blob(self, path: str) -> Blob | None:
        """The file, or None where there is none."""
        ...


@dataclass(frozen=True)
class MemoryTree:
    files: Mapping[str, Blob] = field(default_factory=dict)

    def paths(self) -> frozenset[str]:
        return frozenset(self.files)

    def blob(self, path: str) -> Blob | None:
        return self.files.get(path)


@dataclass(frozen=True)
class Overlay:
    """`base` with `edits` on top; None removes a file."""

    base: Tree
    edits: Mapping[str, Blob | None]

    @cached_property
    def _paths(self) -> frozenset[str]:
        gone = {p for p, b in self.edits.items() if b is None}
        return frozenset((self.base.paths() - gone) | {p for p, b in self.edits.items() if b is not None})

    def paths(self) -> frozenset[str]:
        return self._paths

    def blob(self, path: str) -> Blob | None:
        return self.edits[path] if path in self.edits else self.base.blob(path)


def edited(tree: Tree, edits: Mapping[str, Blob | None]) -> Overlay:
    """`tree` with edits on top, one layer deep however often it was edited before: reading stays as quick as it was."""
    if isinstance(tree, Overlay):
        return Overlay(tree.base, {**tree.edits, **edits})
    return Overlay(tree, edits)


def text(tree: Tree, path: str) -> str | None:
    """The file as text (undecodable bytes are replaced), or None where there is none."""
    blob = tree.blob(path)
    return None if blob is None else blob.data.decode("utf-8", "replace")


def under(paths: Iterable[str], folder: str) -> list[str]:
    """The paths below `folder`, sorted; all of them for an empty folder."""
    prefix = folder.rstrip("/") + "/" if folder else ""
    return sorted(p for p in paths if p.startswith(prefix))
