"""Which commits of a history wrote lines, and which change them later. Lines are numbered from 0."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sync_tools.upstream.changeset import Hunk
from sync_tools.upstream.marks import Met, carried
from sync_tools.upstream.patch import FileDiff

History = Iterable[tuple[str, tuple[FileDiff, ...]]]
Mark = tuple[str, int]
"""A line that is asked for, by the path and number that it has where one asks from."""

STRANGER: Mark = ("", -1)
"""A line that a later commit put among those that are followed."""


@dataclass(frozen=True)
class Reached:
    """Where a commit meets lines that are followed: their numbers then, by the path that they had then."""

    commit: str
    lines: Mapping[str, tuple[int, ...]]


def written_by(wanted: Mapping[str, Iterable[int]], history: History) -> list[Reached]:
    """Which commits of a history (newest first, ending at the image that `wanted` speaks of) wrote the wanted lines."""
    marks = _marks(wanted)
    found = [(commit, [m for met in carried(marks, files, back=True) for m in met.taken]) for commit, files in history]
    return [_reached(commit, written) for commit, written in found if written]


def changed_by(own: Mapping[str, Iterable[int]], history: History) -> list[Reached]:
    """Which commits of a history (oldest first, beginning after the image that `own` speaks of) change or remove the
    lines of `own`, or put lines between them."""
    marks = _marks(own)
    found = [(commit, {m for met in carried(marks, files) for m in _touched(met)}) for commit, files in history]
    return [_reached(commit, marked) for commit, marked in found if marked]


def _touched(met: Met[Mark]) -> Iterable[Mark]:
    """The lines that a change removes, or puts others between. Those others become strangers among them: what is put
    between them later counts still."""
    found = {mark for hunk in met.shift.hunks for mark in _touched_by(hunk, met)}
    return found - {STRANGER}


def _touched_by(hunk: Hunk, met: Met[Mark]) -> set[Mark]:
    inside = {met.marks[n] for n in hunk.old if n in met.marks}
    beside = [met.marks.get(hunk.old.start - 1), met.marks.get(hunk.old.stop)]
    within = {mark for mark in beside if mark is not None} if None not in beside else set()
    if met.left is not None and (inside or within):
        met.left.update(dict.fromkeys(hunk.new, STRANGER))
    return inside if hunk.old_count else within


def _marks(lines: Mapping[str, Iterable[int]]) -> dict[str, dict[int, Mark]]:
    return {path: {n: (path, n) for n in numbers} for path, numbers in lines.items()}


def _reached(commit: str, marks: Iterable[Mark]) -> Reached:
    found: dict[str, list[int]] = {}
    for path, line in sorted(marks):
        found.setdefault(path, []).append(line)
    return Reached(commit, {path: tuple(lines) for path, lines in found.items()})
