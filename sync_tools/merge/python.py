"""Three-way merge of Python code by line, with the structure of the code where lines alone do not tell."""

from functools import partial

from sync_tools.merge.diff3 import Region, align, compare3, join_near, join_touching
from sync_tools.merge.lines import Span
from sync_tools.merge.markers import Clean, Segment
from sync_tools.merge.resolve import Sides, resolve
from sync_tools.merge.symbols import symbol
from sync_tools.merge.textual import segment
from sync_tools.merge.touch import may_touch


def merge_lines(sides: Sides) -> list[Segment]:
    """Merges the whole files."""
    return _settled(sides, _aligned(sides))


def merge_apart(sides: Sides, gap: int) -> list[Segment]:
    """Merges the whole files with a conflict wherever at most `gap` unchanged lines lie between changes of both."""
    return [part for region in join_near(_aligned(sides), gap) for part in _segment(sides, region)]


def merge_spans(sides: Sides, base: Span, ours: Span, theirs: Span) -> list[Segment]:
    """Merges the lines of these spans; conflicts name the definition that they stand in."""
    b, o, t = sides.base.lines, sides.ours.lines, sides.theirs.lines
    found = compare3(b[slice(*base)], o[slice(*ours)], t[slice(*theirs)])
    return _settled(sides, [region.shifted(base[0], ours[0], theirs[0]) for region in found])


def _aligned(sides: Sides) -> list[Region]:
    lines = sides.base.lines, sides.ours.lines, sides.theirs.lines
    return align(*lines, sides.our_changes, sides.their_changes)


def _settled(sides: Sides, found: list[Region]) -> list[Segment]:
    regions = join_touching(found, partial(may_touch, sides.base, sides.ours, sides.theirs))
    segments: list[Segment] = []
    for n, region in enumerate(regions):
        lines = _resolved(sides, regions, n) if region.kind == "conflict" else None
        segments.extend(_segment(sides, region) if lines is None else [Clean(lines)])
    return segments


def _segment(sides: Sides, region: Region) -> list[Segment]:
    name = symbol(sides, region) if region.kind == "conflict" else ""
    return segment(region, sides.base.lines, sides.ours.lines, sides.theirs.lines, name)


def _resolved(sides: Sides, regions: list[Region], n: int) -> list[bytes] | None:
    above = regions[n - 1] if n else None
    room = above.base[1] - above.base[0] if above and above.kind == "same" else 0
    return resolve(sides, regions[n], room)
