"""Every line that a window of landings wrote or removed, and what became of it up to the tip."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from sync_tools.adopt.lines import compact
from sync_tools.upstream.steps import Change, Side, Step

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

    change: Change
    pieces: tuple[Piece, ...]
    file: int


@dataclass
class File:
    """A file through its renames: as it was before the window, and as it is now (None where it is not there). `paths` are
    all that it had, the newest last."""

    first: Side | None
    last: Side | None
    lines: list[Line]
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
    state = _Tracing(read)
    traced = tuple(state.step(n, step.changes) for n, step in enumerate(steps))
    standing = {
        line: (file.last, i) for file in state.files if file.last is not None for i, line in enumerate(file.lines)
    }
    return Trace(traced, tuple(state.files), standing, state.ended, state.rewritten)


@dataclass
class _Tracing:
    read: Callable[[Side], Sequence[bytes]]
    files: list[File] = field(default_factory=list)
    at: dict[str, int] = field(default_factory=dict)
    ended: dict[Line, int] = field(default_factory=dict)
    rewritten: dict[tuple[int, bytes], int] = field(default_factory=dict)

    def step(self, n: int, changes: Sequence[Change]) -> tuple[Traced, ...]:
        numbers = [self._number(change.before) for change in changes]
        for change in changes:
            if change.before and (change.after is None or change.after.path != change.before.path):
                self.at.pop(change.before.path, None)
        return tuple(self._change(n, change, number) for change, number in zip(changes, numbers, strict=True))

    def _number(self, side: Side | None) -> int:
        """The file that a change is made to; a new one where the change adds it, or nothing changed it before."""
        if side is not None and side.path in self.at:
            return self.at[side.path]
        lines = [Line(BEFORE, side, i) for i in range(len(self.read(side)))] if side else []
        self.files.append(File(side, side, lines, [side.path] if side else []))
        if side is not None:
            self.at[side.path] = len(self.files) - 1
        return len(self.files) - 1

    def _change(self, n: int, change: Change, number: int) -> Traced:
        file = self.files[number]
        pieces, out, at = [], [], 0
        old, new = ([compact(line) for line in self.read(side)] if side else [] for side in change[:2])
        had, has = frozenset(old), frozenset(new)
        for hunk in change.hunks:
            removed = tuple(file.lines[hunk.old.start : hunk.old.stop])
            added = tuple(Line(n, change.after, i) for i in hunk.new) if change.after else ()
            out += [*file.lines[at : hunk.old.start], *added]
            at = hunk.old.stop
            self.ended |= dict.fromkeys(removed, n)
            gone = frozenset(line for i, line in zip(hunk.old, removed, strict=False) if old[i] not in has)
            fresh = frozenset(line for i, line in zip(hunk.new, added, strict=False) if new[i] not in had)
            pieces.append(Piece(removed, added, gone, fresh))
        file.lines, file.last = [*out, *file.lines[at:]], change.after
        if change.after:
            self.rewritten |= {(number, new[i]): n for hunk in change.hunks for i in hunk.new}
            self.at[change.after.path] = number
            file.paths.append(change.after.path)
        return Traced(change, tuple(pieces), number)
