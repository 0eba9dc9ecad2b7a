"""A literal list or dict as cells, so that one can be added, removed or moved with its comments and formatting kept.

`join(split(text, node))` is the text of the node. A cell owns what stands before it (line break, indentation, comment
lines) and the comment at the end of its line; commas belong to the list: every cell but the last has one, and the last
has one where the list was written so.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sync_tools.ci.literal import Map, Seq

_TAIL = re.compile(r"[ \t]*\#[^\r\n]*|[ \t]+(?=\r?\n)")


@dataclass(frozen=True)
class Cell:
    lead: str
    item: str
    gap: str = ""
    tail: str = ""


@dataclass(frozen=True)
class Cells:
    opening: str
    cells: tuple[Cell, ...]
    ending: str
    closing: str
    trailing_comma: bool

    @property
    def indent(self) -> str | None:
        """The indentation of cells that start a line, None where all stand on one line."""
        leads = [cell.lead for cell in self.cells if "\n" in cell.lead]
        return leads[0].rpartition("\n")[2] if leads else None


def split(text: str, node: Seq | Map) -> Cells:
    cells, at, comma = [], node.start + 1, None
    for item in node.items:
        comma = _comma(text, item.end, node.end)
        after = item.end if comma is None else comma + 1
        tail = _TAIL.match(text, after, node.end - 1)
        end = tail.end() if tail else after
        cells.append(
            Cell(
                text[at : item.start], text[item.start : item.end], text[item.end : comma or item.end], text[after:end]
            )
        )
        at = end
    ending = text[at : node.end - 1]
    trailing_comma = comma is not None if cells else "\n" in ending
    return Cells(text[node.start], tuple(cells), ending, text[node.end - 1], trailing_comma)


def join(cells: Cells) -> str:
    last = len(cells.cells) - 1
    body = "".join(
        cell.lead + cell.item + cell.gap + ("," if at < last or cells.trailing_comma else "") + cell.tail
        for at, cell in enumerate(cells.cells)
    )
    return cells.opening + body + cells.ending + cells.closing


def arranged(original: Cells, cells: Sequence[Cell]) -> Cells:
    """The list with other cells: line breaks as the original has them before its first cell and between the others."""
    if not cells:
        return replace(original, cells=(), trailing_comma=False)
    first = original.cells[0].lead if original.cells else "\n"
    if "\n" in first or cells[0].lead == first:
        return replace(original, cells=tuple(cells))
    between = original.cells[1].lead if len(original.cells) > 1 else " "
    rest = (replace(cell, lead=between) if cell.lead == first else cell for cell in cells[1:])
    return replace(original, cells=(replace(cells[0], lead=first), *rest))


def fitted(cell: Cell, source: Cells, target: Cells, newline: str) -> Cell:
    """A cell of `source` written in the style of `target`: on a line of its own, indented as its neighbours, or in line."""
    if target.cells and target.indent is None:
        return Cell(" ", cell.item)
    if not target.cells and "\n" not in target.ending:
        return Cell("", cell.item)
    old = (source.indent or "") if "\n" in cell.lead else ""
    new = target.ending.rpartition("\n")[2] + "  " if target.indent is None else target.indent
    above = _reindent(cell.lead.replace("\r\n", "\n").rpartition("\n")[0], old, new, newline)
    return Cell(above + newline + new, _reindent(cell.item, old, new, newline), cell.gap, cell.tail)


def _comma(text: str, start: int, end: int) -> int | None:
    """Where the comma stands that follows an item, comments skipped."""
    found = re.compile(r"(?:\s|\#[^\n]*)*,").match(text, start, end)
    return found.end() - 1 if found else None


def _reindent(text: str, old: str, new: str, newline: str) -> str:
    first, *lines = text.replace("\r\n", "\n").split("\n")
    return newline.join([first, *(new + line.removeprefix(old) if line.startswith(old) else line for line in lines)])
