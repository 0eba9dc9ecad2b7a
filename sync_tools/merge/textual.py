"""Three-way merge of lines, without knowledge of what they mean."""

from collections.abc import Sequence

from sync_tools.merge.diff3 import Region, compare3, join_touching
from sync_tools.merge.markers import Clash, Clean, Segment, narrowed
from sync_tools.merge.result import Conflict


def line_for_line(first: Region, second: Region) -> bool:
    """Changes that touch are both taken where each replaces lines one for one: only then it is certain which line of
    base became which. Anything else (an insertion beside a change, a deletion beside one) is left to a person."""
    return _replaces(first) and _replaces(second)


def regions_of_text(base: Sequence[bytes], ours: Sequence[bytes], theirs: Sequence[bytes]) -> list[Region]:
    return join_touching(compare3(base, ours, theirs), line_for_line)


def segment(
    region: Region, base: Sequence[bytes], ours: Sequence[bytes], theirs: Sequence[bytes], symbol: str
) -> list[Segment]:
    """What a region becomes in the merge."""
    if region.kind == "theirs":
        return [Clean(theirs[slice(*region.theirs)])]
    if region.kind != "conflict":
        return [Clean(ours[slice(*region.ours)])]
    conflict = Conflict(symbol, region.base, region.ours, region.theirs)
    sides = ours[slice(*region.ours)], base[slice(*region.base)], theirs[slice(*region.theirs)]
    return narrowed(Clash(conflict, *sides))


def undisputed(regions: Sequence[Region], ours: Sequence[bytes], theirs: Sequence[bytes]) -> bytes:
    """Ours with those changes of theirs that stand apart from every change of ours: at least one line that neither
    changed lies between."""
    parts: list[bytes] = []
    for n, region in enumerate(regions):
        near = regions[max(n - 1, 0) : n + 2]
        alone = region.kind == "theirs" and all(r.kind in ("theirs", "same") for r in near)
        parts.extend(theirs[slice(*region.theirs)] if alone else ours[slice(*region.ours)])
    return b"".join(parts)


def _replaces(region: Region) -> bool:
    count = region.base[1] - region.base[0]
    side = region.ours if region.kind == "ours" else region.theirs
    return region.kind in ("ours", "theirs") and count > 0 and side[1] - side[0] == count
