"""What the structure of Python code settles where both sides changed the same lines."""

from dataclasses import dataclass
from functools import cached_property

from sync_tools.merge.diff import Hunk, hunks
from sync_tools.merge.diff3 import Region
from sync_tools.merge.elements import elements, merge_elements
from sync_tools.merge.imports import merge_imports, statements
from sync_tools.merge.items import DEFINITIONS
from sync_tools.merge.lines import Span
from sync_tools.merge.source import Source
from sync_tools.merge.touch import unordered
from sync_tools.merge.units import Unit, are_elements, are_imports, are_statements, commute, units

REACH = 20


@dataclass(frozen=True)
class Sides:
    """The three versions of a file that all parse."""

    base: Source
    ours: Source
    theirs: Source

    @cached_property
    def our_changes(self) -> list[Hunk]:
        return hunks(self.base.lines, self.ours.lines)

    @cached_property
    def their_changes(self) -> list[Hunk]:
        return hunks(self.base.lines, self.theirs.lines)


def resolve(sides: Sides, region: Region, room: int) -> list[bytes] | None:
    """The lines that a conflict comes to where its answer is certain; `room` unchanged lines stand above it."""
    lines = _cosmetic(sides, region)
    return lines if lines is not None else _raised(sides, region, room)


def _cosmetic(sides: Sides, region: Region) -> list[bytes] | None:
    """One side only moved blank lines about: the other side's lines."""
    spans = ((sides.base, region.base), (sides.ours, region.ours), (sides.theirs, region.theirs))
    if not all(_blanks_are_blank(source, span) for source, span in spans):
        return None
    b, o, t = ([line for line in source.lines[slice(*span)] if line.strip()] for source, span in spans)
    if o in (b, t):
        return list(sides.theirs.lines[slice(*region.theirs)])
    if t == b:
        return list(sides.ours.lines[slice(*region.ours)])
    return None


def _blanks_are_blank(source: Source, span: Span) -> bool:
    return all(source.lines[n].strip() or source.leaf(n).kind == "blank" for n in range(*span))


def _raised(sides: Sides, region: Region, room: int) -> list[bytes] | None:
    """Tries the region as it stands and, where both only inserted, the places higher up that mean the same, within the
    `room` unchanged lines above."""
    room = room if region.base[0] == region.base[1] else 0
    for up in range(min(room, REACH) + 1):
        raised = region.shifted(-up, -up, -up)
        passed = list(sides.base.lines[raised.base[1] : region.base[1]])
        lines = _by_units(sides, raised)
        if lines is not None and lines[:up] == passed:
            return lines[up:] + passed
        if up < room and not _rises(sides, raised):
            break
    return None


def _rises(sides: Sides, region: Region) -> bool:
    above = sides.base.lines[region.base[0] - 1]
    ends = ((sides.ours, region.ours), (sides.theirs, region.theirs))
    return all(source.lines[start - 1] == source.lines[end - 1] == above for source, (start, end) in ends)


def _by_units(sides: Sides, region: Region) -> list[bytes] | None:
    """Merges whole statements or elements by what they declare."""
    b = units(sides.base, region.base)
    o = units(sides.ours, region.ours)
    t = units(sides.theirs, region.theirs)
    if b is None or o is None or t is None:
        return None
    found = (b, o, t)
    sources = (sides.base, sides.ours, sides.theirs)
    if all(_cover(each, span) for each, span in zip(found, (region.base, region.ours, region.theirs))):
        if are_imports(b + o + t):
            return merge_imports(*(statements(source, each) for source, each in zip(sources, found)))
        if are_elements(b + o + t) and _one_literal(*found):
            return merge_elements(*(elements(source, each) for source, each in zip(sources, found)))
    if b or not o or not t:
        return None
    depths = _depth(sides.ours, o), _depth(sides.theirs, t)
    if depths[0] != depths[1]:
        return _nested(sides, region, *depths) if are_statements(o + t) else None
    return _both(sides, region, o, t) if commute(o, t) else None


def _depth(source: Source, found: list[Unit]) -> int | None:
    """The indentation that all units share."""
    depths = {len(line) - len(line.lstrip()) for line in (source.lines[unit.start] for unit in found)}
    return depths.pop() if len(depths) == 1 else None


def _nested(sides: Sides, region: Region, ours: int | None, theirs: int | None) -> list[bytes] | None:
    """One side went on with an inner block and the other stands after it: the deeper lines come first."""
    if ours is None or theirs is None:
        return None
    lines = [list(sides.ours.lines[slice(*region.ours)]), list(sides.theirs.lines[slice(*region.theirs)])]
    return lines[0] + lines[1] if ours > theirs else lines[1] + lines[0]


def _cover(found: list[Unit], span: Span) -> bool:
    """Whether the units leave no line over, such as a comment that belongs to none."""
    return sum(unit.end - unit.lead for unit in found) == span[1] - span[0]


def _one_literal(*sides: list[Unit]) -> bool:
    """Whether the elements of each side stand in one literal, of one kind everywhere."""
    holders = [{id(unit.leaf.holder) for unit in side} for side in sides]
    kinds = {type(unit.leaf.holder) for side in sides for unit in side}
    return all(len(h) <= 1 for h in holders) and len(kinds) == 1 and all(unordered(u) for s in sides for u in s)


def _both(sides: Sides, region: Region, o: list[Unit], t: list[Unit]) -> list[bytes]:
    """Ours, then theirs; between definitions as many blank lines as stand above them."""
    ours, theirs = list(sides.ours.lines[slice(*region.ours)]), list(sides.theirs.lines[slice(*region.theirs)])
    apart = not (ours and ours[-1].strip() and theirs[0].strip())
    if apart or not any(isinstance(unit.node, DEFINITIONS) for unit in (o[-1], t[0])):
        return ours + theirs
    start = region.base[0]
    while start and not sides.base.lines[start - 1].strip():
        start -= 1
    return [*ours, *sides.base.lines[start : region.base[0]], *theirs]
