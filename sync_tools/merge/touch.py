"""Whether two changes of Python code that touch, ours and theirs, may both be taken.

Each must end where a piece of code ends, so that the border between them is one of the code and not of the diff's
making. A person decides where the order of what both put there would matter.
"""

import ast
from dataclasses import dataclass

from sync_tools.merge.diff3 import Region
from sync_tools.merge.items import DEFINITIONS, IMPORTS, assigned_names
from sync_tools.merge.lines import Span
from sync_tools.merge.source import Source
from sync_tools.merge.units import Unit, commute, units


@dataclass(frozen=True, slots=True)
class _Change:
    """One side's change: its lines in base and in that side."""

    base: Source
    side: Source
    old: Span
    new: Span

    @property
    def cosmetic(self) -> bool:
        """Only blank lines and comments come and go."""
        return not _code(self.base, self.old) and not _code(self.side, self.new)

    @property
    def deletes(self) -> bool:
        return not _code(self.side, self.new)

    @property
    def grows(self) -> bool:
        return len(_code(self.side, self.new)) > len(_code(self.base, self.old))

    def raised(self) -> "_Change":
        """A pure insertion as low as it stands may end in the middle of a statement that it also starts in: moved up
        until it holds whole units."""
        old, new = self.old, self.new
        if old[0] != old[1]:
            return self
        lines = self.side.lines
        while units(self.side, new) is None and new[0] > 0 and old[0] > 0 and lines[new[0] - 1] == lines[new[1] - 1]:
            old, new = (old[0] - 1, old[1] - 1), (new[0] - 1, new[1] - 1)
        return self if units(self.side, new) is None else _Change(self.base, self.side, old, new)


def may_touch(base: Source, ours: Source, theirs: Source, first: Region, second: Region) -> bool:
    """Whether `first` and the change right below it may both be taken."""
    if "conflict" in (first.kind, second.kind):
        return False
    above, below = (
        _Change(base, ours, r.base, r.ours) if r.kind == "ours" else _Change(base, theirs, r.base, r.theirs)
        for r in (first, second)
    )
    moved = above.raised()
    if moved.old[1] < below.old[0]:
        return base.border(moved.old[1])
    below_moved = below.raised()
    if below_moved.old != below.old:
        return False
    borders = base.border(below.old[0]) and above.side.border(above.new[1]) and below.side.border(below.new[0])
    return borders and _in_order(above, below)


def _in_order(above: _Change, below: _Change) -> bool:
    if above.cosmetic or below.cosmetic:
        return True
    if not _same_depth(above, below):
        return False
    if above.grows and below.grows:
        return _commute(above, below)
    if (above.grows and below.deletes) or (above.deletes and below.grows):
        return _declares(above) and _declares(below)
    return not _one_decision(above, below)


def _same_depth(above: _Change, below: _Change) -> bool:
    """Replaced lines at the border keep their indentation, so that what stands beside them keeps its block."""
    old, new = _code(above.base, above.old), _code(above.side, above.new)
    if old and new and _indent(above.base, old[-1]) != _indent(above.side, new[-1]):
        return False
    old, new = _code(below.base, below.old), _code(below.side, below.new)
    return not (old and new) or _indent(below.base, old[0]) == _indent(below.side, new[0])


def _commute(above: _Change, below: _Change) -> bool:
    first, second = units(above.side, above.new), units(below.side, below.new)
    if first is None or second is None:
        return False
    if _elements(first) and _elements(second):
        return unordered(first[0]) and unordered(second[0])
    return commute(first, second)


def _declares(change: _Change) -> bool:
    """Whether everything that comes or goes is a declaration or an element of a literal."""
    old, new = units(change.base, change.old), units(change.side, change.new)
    if old is None or new is None:
        return False
    return all(_declaration(unit) for unit in (*old, *new))


def _declaration(unit: Unit) -> bool:
    if unit.leaf.kind == "element":
        return unordered(unit)
    if not unit.leaf.declares:
        return isinstance(unit.node, IMPORTS)
    node = unit.node
    return isinstance(node, (*DEFINITIONS, *IMPORTS)) or (isinstance(node, ast.stmt) and bool(assigned_names(node)))


def _elements(found: list[Unit]) -> bool:
    return bool(found) and all(unit.leaf.kind == "element" for unit in found)


def unordered(unit: Unit) -> bool:
    """Whether an element may be added beside another one: in literals, imports, and among keyword arguments."""
    holder = unit.leaf.holder
    if isinstance(holder, ast.Call):
        return isinstance(unit.node, ast.keyword)
    if isinstance(holder, ast.arguments):
        return unit.node in holder.kwonlyargs
    return isinstance(holder, (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.ImportFrom))


def _one_decision(above: _Change, below: _Change) -> bool:
    """Conditions in a row are one decision: a branch that one side puts beside a condition that the other rewrote is
    left to a person."""
    for inserted, other, at in ((above, below, 0), (below, above, -1)):
        found = units(inserted.side, inserted.new) if inserted.grows and inserted.old[0] == inserted.old[1] else None
        code = _code(other.base, other.old)
        if not found or not code or not isinstance(found[-1 - at].node, ast.If):
            continue
        leaf, indent = other.base.leaf(code[at]), _indent(inserted.side, found[-1 - at].start)
        if (
            leaf.kind in ("header", "clause")
            and isinstance(leaf.node, ast.If)
            and _indent(other.base, code[at]) == indent
        ):
            return True
    return False


def _code(source: Source, span: Span) -> list[int]:
    """First lines of the leaves in the span that are neither blank nor comments."""
    found: list[int] = []
    last = None
    for line in range(*span):
        leaf = source.leaf(line)
        if leaf.kind in ("blank", "comment"):
            continue
        this = (leaf.kind, leaf.start, leaf.end)
        if this != last:
            found.append(line)
        last = this
    return found


def _indent(source: Source, line: int) -> int:
    text = source.lines[line]
    return len(text) - len(text.lstrip())
