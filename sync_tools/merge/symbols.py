"""Which named unit a line belongs to."""

from bisect import bisect_right
from collections.abc import Iterable

from sync_tools.merge.diff3 import Region
from sync_tools.merge.items import Item
from sync_tools.merge.lines import Span
from sync_tools.merge.resolve import Sides
from sync_tools.merge.source import Source

MODULE = "<module>"


def symbol(sides: Sides, region: Region) -> str:
    """The dotted name of the definition that the region's first line of code stands in, in whichever version has one."""
    for source, span in ((sides.base, region.base), (sides.ours, region.ours), (sides.theirs, region.theirs)):
        for item in touched(source, [span]):
            return item.symbol
    return MODULE


def touched(source: Source, spans: Iterable[Span]) -> list[Item]:
    """The items that lines of the spans belong to, blank lines aside, each once."""
    items = source.definitions
    found: dict[int, Item] = {}
    for span in spans:
        for line in range(*span):
            if source.lines[line].strip():
                n = bisect_right(items, line, key=lambda item: item.start) - 1
                found.setdefault(n, items[n])
    return list(found.values())
