"""Text as the three sides of a merge see it: the same on all of them, but where both sides changed it.

The matrix is merged by meaning, so most of it is settled before text is compared. Where it is not, the three views
differ in exactly the cells in question, and the textual merge that follows marks them as any other conflict.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from sync_tools.ci.cells import Cell, Cells, arranged, join

Span = tuple[int, int]


@dataclass(frozen=True)
class Views:
    base: str
    ours: str
    theirs: str

    @classmethod
    def same(cls, text: str) -> "Views":
        return cls(text, text, text)


@dataclass(frozen=True)
class CellViews:
    """A cell, or its absence, on each side."""

    base: Cell | None
    ours: Cell | None
    theirs: Cell | None

    @classmethod
    def same(cls, cell: Cell) -> "CellViews":
        return cls(cell, cell, cell)

    @classmethod
    def rewritten(cls, cell: Cell, item: Views) -> "CellViews":
        return cls(*(Cell(cell.lead, text, cell.gap, cell.tail) for text in (item.base, item.ours, item.theirs)))


def weave(original: Cells, cells: Sequence[CellViews]) -> Views:
    """The list with other cells."""

    def side(of: Callable[[CellViews], Cell | None]) -> str:
        return join(arranged(original, [cell for cell in map(of, cells) if cell is not None]))

    return Views(side(lambda c: c.base), side(lambda c: c.ours), side(lambda c: c.theirs))


def splice(text: str, span: Span, edits: Mapping[Span, Views]) -> Views:
    """`text[span]` with the edits that lie in it made; of edits within one another the outermost counts."""
    parts: list[Views] = []
    at, end = span
    for start, stop in sorted(edits, key=lambda s: (s[0], -s[1])):
        if at <= start and stop <= end:
            parts += [Views.same(text[at:start]), edits[start, stop]]
            at = stop
    return concatenated([*parts, Views.same(text[at:end])])


def concatenated(parts: Iterable[Views]) -> Views:
    parts = list(parts)
    return Views("".join(p.base for p in parts), "".join(p.ours for p in parts), "".join(p.theirs for p in parts))
