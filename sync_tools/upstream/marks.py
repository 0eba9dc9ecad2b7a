"""Marks on lines of files, carried through a history of diffs under the names that the files have at the moment."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic

from sync_tools.upstream.patch import FileDiff
from sync_tools.upstream.shift import Mark, Shift


@dataclass(frozen=True)
class Met(Generic[Mark]):
    """A change of a file that has marks: `left` are the marks where they stand behind it (None: the file is gone)."""

    marks: Mapping[int, Mark]
    shift: Shift
    left: dict[int, Mark] | None

    @property
    def taken(self) -> list[Mark]:
        """The marks on lines that do not stand any more."""
        return [mark for at, mark in self.marks.items() if self.left is None or self.shift.line(at) is None]


def carried(marks: dict[str, dict[int, Mark]], files: Sequence[FileDiff], *, back: bool = False) -> list[Met[Mark]]:
    """Carry marks, by path and line, through one commit, or from behind it to before it. `marks` becomes what is left."""
    met, moved = [], {}
    for file in files:
        here, there = (file.new, file.old) if back else (file.old, file.new)
        found = marks.pop(here, None) if here else None
        if found is None:
            continue
        shift = file.shift.back if back else file.shift
        left = shift.carried(found) if there else None
        met.append(Met(found, shift, left))
        if there and left is not None:
            moved[there] = left
    marks.update(moved)
    return met
