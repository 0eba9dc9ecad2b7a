"""Every line that a window of landings wrote or removed, and what became of it up to the tip."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from sync_tools.adopt.lines import compact
from sync_tools.adopt.steps import Step
from sync_tools.upstream.course import threads
from sync_tools.upstream.patch import FileDiff, Side

BEFORE = -1


class Line(NamedTuple):
    """A line by where it was written: the step (`BEFORE` the window), the file as it then was, and its 0-based index."""

    step: int
    side: Side
    at: int


class Piece(NamedTuple):
    """The lines of one hunk. `gone` and `new` are those of a text that the file no longer has, or had not before."""

    removed: tuple[Line, ...]
    added: tuple[Line, ...]
    gone: frozenset[Line]
    new: frozenset[Line]


class Traced(NamedTuple):
    """One path of a landing; `file` is the index of its file in the trace."""

    change: FileDiff
    pieces: tuple[Piece, ...]
    file: int


@dataclass
class File:
    """A file through its renames: as it was before the window, and as it is now (None where it is not there). `paths` are
    all that it had, the newest last; `lines` are where they stand now."""

    first: Side | None
    last: Side | None
    lines: dict[int, Line]
    paths: list[str]


@dataclass(frozen=True)
class Trace:
    """`steps[n]` are the paths of the n-th landing. `standing` says where at the tip a line stands, `ended` which step
    removed it; `rewritten` the last step that wrote a text (without its blanks) into a file, by the file's index."""

    steps: tuple[tuple[Traced, ...], ...]
    files: tuple[File, ...]
    standing: dict[Line, tuple[Side, int]]
    ended: dict[Line, int]
    rewritten: dict[tuple[int, bytes], int]


def trace(steps: Sequence[Step], read: Callable[[Side], Sequence[bytes]]) -> Trace:
    """Follow the lines of a window; `read(side)` are the lines of a file."""
    found = threads([[(change.old, change.new) for change in step.changes] for step in steps])
    firsts = [steps[n].changes[i].before for n, i in (thread[0] for thread in found)]
    state = _Tracing(read, [_file(first, read) for first in firsts])
    numbers = {at: number for number, thread in enumerate(found) for at in thread}
    traced = tuple(
        tuple(state.change(n, change, numbers[n, i]) for i, change in enumerate(step.changes))
        for n, step in enumerate(steps)
    )
    standing = {line: (file.last, i) for file in state.files if file.last is not None for i, line in file.lines.items()}
    return Trace(traced, tuple(state.files), standing, state.ended, state.rewritten)


def _file(first: Side | None, read: Callable[[Side], Sequence[bytes]]) -> File:
    lines = {i: Line(BEFORE, first, i) for i in range(len(read(first)))} if first else {}
    return File(first, first, lines, [first.path] if first else [])


@dataclass
class _Tracing:
    read: Callable[[Side], Sequence[bytes]]
    files: list[File]
    ended: dict[Line, int] = field(default_factory=dict)
    rewritten: dict[tuple[int, bytes], int] = field(default_factory=dict)

    def change(self, n: int, change: FileDiff, number: int) -> Traced:
        file = self.files[number]
        old, new = self._texts(change.before), self._texts(change.after)
        had, has = frozenset(old), frozenset(new)
        pieces, written = [], {}
        for hunk in change.hunks:
            removed = tuple(file.lines[i] for i in hunk.old)
            added = {i: Line(n, change.after, i) for i in hunk.new} if change.after else {}
            gone = frozenset(line for i, line in zip(hunk.old, removed, strict=False) if old[i] not in has)
            fresh = frozenset(line for i, line in added.items() if new[i] not in had)
            pieces.append(Piece(removed, tuple(added.values()), gone, fresh))
            self.ended |= dict.fromkeys(removed, n)
            written |= added
        file.lines = change.shift.carried(file.lines) | written if change.after else {}
        file.last = change.after
        if change.after:
            self.rewritten |= {(number, new[i]): n for i in written}
            file.paths.append(change.after.path)
        return Traced(change, tuple(pieces), number)

    def _texts(self, side: Side | None) -> list[bytes]:
        return [compact(line) for line in self.read(side)] if side else []
