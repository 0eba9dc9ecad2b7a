"""How a change of a file shifts its lines.

Lines are numbered from 0 and followed through the zero-context hunks of upstream's own diffs, so what is said is exact.
"""

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from sync_tools.upstream.changeset import Hunk

Mark = TypeVar("Mark")


@dataclass(frozen=True)
class Shift:
    """Of one change of one file, by its hunks in any order."""

    hunks: tuple[Hunk, ...]

    @cached_property
    def _pieces(self) -> list[tuple[range, range]]:
        return sorted(((h.old, h.new) for h in self.hunks), key=lambda p: (p[0].start, p[1].start, p[0].stop))

    @cached_property
    def _starts(self) -> list[int]:
        return [old.start for old, _ in self._pieces]

    @cached_property
    def back(self) -> "Shift":
        """From the lines after the change to those before it."""
        return Shift(tuple(Hunk(h.new_start, h.new_count, h.old_start, h.old_count) for h in self.hunks))

    def line(self, at: int) -> int | None:
        """Where a line of the file before stands after it; None where it was removed."""
        n = bisect_right(self._starts, at) - 1
        if n < 0:
            return at
        old, new = self._pieces[n]
        return None if at < old.stop else at - old.stop + new.stop

    def gap(self, at: int) -> int:
        """Where the gap before line `at` is after it: a gap stands with the line above it."""
        n = bisect_right(self._starts, at - 1) - 1
        if at == 0 or n < 0:
            return at
        old, new = self._pieces[n]
        return new.start if at <= old.stop and at > old.start else at - old.stop + new.stop

    def carried(self, marks: Mapping[int, Mark]) -> dict[int, Mark]:
        """Marks on lines before the change, where those lines stand after it."""
        return {to: mark for at, mark in marks.items() if (to := self.line(at)) is not None}
