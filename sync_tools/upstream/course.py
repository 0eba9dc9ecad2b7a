"""A file's way through several changes: which changes are of one file, and where its lines come from and go.

Lines are followed through the zero-context hunks of upstream's own diffs, so what is said here is exact.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from sync_tools.upstream.changeset import FileChange, Hunk
from sync_tools.upstream.shift import Shift

Moves = Sequence[tuple[str | None, str | None]]
"""The paths of a change's files, before and after; None where there is no file."""
CARRIED = frozenset({"binary", "symlink", "submodule"})


@dataclass(frozen=True)
class Step:
    """One change of one file. `ref` names the change (empty: one that nobody names); `facts` are what it does beside
    lines, by their first words."""

    ref: str
    old_path: str | None
    path: str | None
    hunks: tuple[Hunk, ...]
    facts: frozenset[str] = frozenset()

    @staticmethod
    def of(ref: str, change: FileChange, facts: Iterable[str]) -> "Step":
        return Step(
            ref,
            change.before.path if change.before else None,
            change.after.path if change.after else None,
            change.hunks,
            frozenset(fact.split(",")[0].split(" ")[0] for fact in facts),
        )

    @cached_property
    def shift(self) -> Shift:
        return Shift(self.hunks)

    @cached_property
    def _back(self) -> "Step":
        return Step(self.ref, self.path, self.old_path, self.shift.back.hunks, self.facts)

    @property
    def emptied(self) -> bool:
        """No line of the file before it is a line of the file after it."""
        return self.path is None or self.old_path is None or bool(self.facts & CARRIED)

    def line(self, at: int) -> int | None:
        """Where a line of the file before stands after it; None where it was removed."""
        return None if self.emptied else self.shift.line(at)

    def gap(self, at: int) -> int:
        """Where the gap before line `at` is after it: a gap stands with the line above it."""
        return 0 if self.emptied else self.shift.gap(at)


@dataclass(frozen=True)
class Fate:
    """What became of lines: those that still stand, and the last change that removed some of them."""

    lines: tuple[int, ...]
    gap: int
    by: str | None = None


def forward(lines: range, steps: Sequence[Step]) -> Fate:
    """Lines followed through the changes that come after."""
    standing, gap, by = list(lines), lines.start, None
    for step in steps:
        after = [at for i in standing if (at := step.line(i)) is not None]
        gap = after[0] if after else step.gap(standing[0] if standing else gap)
        by = step.ref if len(after) < len(standing) else by
        standing = after
    return Fate(tuple(standing), gap, by)


def back(lines: range, steps: Sequence[Step]) -> tuple[int, ...]:
    """Lines followed through the changes that came before, back to the file as it was before the first of `steps`."""
    standing = list(lines)
    for step in reversed(steps):
        standing = [at for i in standing if (at := step._back.line(i)) is not None]
    return tuple(standing)


def undone(facts: Iterable[str], steps: Sequence[Step]) -> str | None:
    """The first later change that is in the way of what a change does beside lines: it moves the file again, carries
    other bytes, sets another mode, or deletes the file."""
    mine = frozenset(fact.split(",")[0].split(" ")[0] for fact in facts)
    for step in steps:
        again = (mine & step.facts & {"renamed", "mode"}) or (mine & CARRIED and step.facts & CARRIED)
        if again or step.path is None:
            return step.ref
    return None


@dataclass
class _Threads:
    """The files that are known while the changes are gone through: by the path that each has now, or had last."""

    here: dict[str, int] = field(default_factory=dict)
    gone: dict[str, int] = field(default_factory=dict)
    found: list[list[tuple[int, int]]] = field(default_factory=list)

    def take(self, old: str | None, new: str | None) -> int:
        known = self.here.pop(old, None) if old is not None else self.gone.pop(new or "", None)
        if known is None:
            self.found.append([])
            known = len(self.found) - 1
        return known


def threads(changes: Sequence[Moves]) -> list[list[tuple[int, int]]]:
    """The changes of each file, as (which change, which of its files), followed through moves. A file that is added again
    where it was deleted is the same file."""
    known = _Threads()
    for n, moves in enumerate(changes):
        taken = [known.take(old, new) for old, new in moves]
        for i, (thread, (old, new)) in enumerate(zip(taken, moves, strict=True)):
            known.found[thread].append((n, i))
            if new is not None:
                known.here[new] = thread
            elif old is not None:
                known.gone[old] = thread
    return known.found
