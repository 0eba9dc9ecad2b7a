"""An upstream pull request as values: files before and after, and the zero-context hunks between them."""

from dataclasses import dataclass
from typing import Literal

FileKind = Literal["added", "deleted", "modified", "renamed", "mode", "type"]


@dataclass(frozen=True)
class Image:
    """A file on one side of a change. `data` of a symlink is its target; of a submodule the commit's hex."""

    path: str
    mode: int
    data: bytes


@dataclass(frozen=True)
class Hunk:
    """Zero-context hunk in git's numbering: 1-based; with a count of 0, `start` is the line before the gap."""

    old_start: int
    old_count: int
    new_start: int
    new_count: int

    @staticmethod
    def of(old: range, new: range) -> "Hunk":
        """From 0-based half-open ranges."""
        return Hunk(old.start + bool(old), len(old), new.start + bool(new), len(new))

    @property
    def old(self) -> range:
        """0-based half-open range of removed lines; empty at the insertion point."""
        first = self.old_start - 1 if self.old_count else self.old_start
        return range(first, first + self.old_count)

    @property
    def new(self) -> range:
        """0-based half-open range of added lines; empty at the deletion point."""
        first = self.new_start - 1 if self.new_count else self.new_start
        return range(first, first + self.new_count)


@dataclass(frozen=True)
class FileChange:
    """One path of the accounted diff (-M50%, myers). `before` is None for an added file, `after` for a deleted one."""

    kind: FileKind
    before: Image | None
    after: Image | None
    similarity: int
    binary: bool
    hunks: tuple[Hunk, ...]

    @property
    def path(self) -> str:
        """The path after the change, or the old one of a deleted file."""
        image = self.after or self.before
        assert image is not None
        return image.path

    @property
    def old(self) -> str | None:
        """The path before the change; None for an added file."""
        return self.before and self.before.path

    @property
    def new(self) -> str | None:
        """The path after the change; None for a deleted file."""
        return self.after and self.after.path

    @property
    def added(self) -> int:
        return sum(h.new_count for h in self.hunks)

    @property
    def removed(self) -> int:
        return sum(h.old_count for h in self.hunks)


@dataclass(frozen=True)
class Person:
    """`date` is git's raw form: seconds since the epoch and the zone, as in `1779156828 +0700`."""

    name: str
    email: str
    date: str


@dataclass(frozen=True)
class ChangeSet:
    """A commit against its first parent. `pr` is None for a commit without a number at the end of its subject."""

    pr: int | None
    commit: str
    parent: str
    subject: str
    body: str
    author: Person
    coauthors: tuple[str, ...]
    files: tuple[FileChange, ...]
    other_landings: tuple[str, ...] = ()
