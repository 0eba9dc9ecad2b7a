"""What a fork already has of an upstream file, by definition."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sync_tools.merge.items import IMPORTS, Item, imported_names
from sync_tools.merge.lines import Span, split
from sync_tools.merge.similar import alike, held, similar
from sync_tools.merge.source import Parser, Source

__all__ = ["Difference", "compare", "contained", "similar"]

State = Literal["equal", "differs", "missing", "extra"]
SIGNIFICANT = 4


@dataclass(frozen=True)
class Difference:
    """One definition, `<imports>`, `<module>` (its other statements), or a whole file that is not Python.

    `missing` is what only theirs has, `extra` what only ours has. Spans are 0-based and half-open; a symbol may stand in
    several places. `likeness` is 1.0 for equal code (blank lines aside) and 0.0 for code without a line in common.
    """

    symbol: str
    state: State
    ours: tuple[Span, ...]
    theirs: tuple[Span, ...]
    likeness: float


def compare(ours: bytes, theirs: bytes, path: str) -> tuple[Difference, ...]:
    """Differences in theirs' order, then what only ours has; equal definitions are listed too."""
    if path.endswith((".py", ".pyi")):
        parser = Parser()
        left, right = parser.source(split(ours)), parser.source(split(theirs))
        if left and right:
            return _by_symbol(left, right)
    o, t = split(ours), split(theirs)
    likeness = 1.0 if ours == theirs else alike(o, t)
    return (Difference(path, "equal" if ours == theirs else "differs", ((0, len(o)),), ((0, len(t)),), likeness),)


def contained(ours: bytes, theirs: bytes) -> float:
    """The share, in [0, 1], of theirs' lines that ours has somewhere; lines of little more than brackets don't count."""
    return held(_significant(split(theirs)), split(ours))


def _significant(lines: Sequence[bytes]) -> list[bytes]:
    return [line for line in lines if sum(byte > 127 or chr(byte).isalnum() for byte in line) >= SIGNIFICANT]


def _by_symbol(ours: Source, theirs: Source) -> tuple[Difference, ...]:
    left, right = _grouped(ours), _grouped(theirs)
    return tuple(_difference(symbol, ours, left, theirs, right) for symbol in {**right, **left})


def _grouped(source: Source) -> dict[str, list[Item]]:
    groups: dict[str, list[Item]] = {}
    for item in source.definitions:
        groups.setdefault(item.symbol if item.node else item.scope or "<module>", []).append(item)
    return groups


def _difference(
    symbol: str, ours: Source, left: dict[str, list[Item]], theirs: Source, right: dict[str, list[Item]]
) -> Difference:
    o, t = left.get(symbol, []), right.get(symbol, [])
    spans = tuple((i.start, i.end) for i in o), tuple((i.start, i.end) for i in t)
    if not o or not t:
        return Difference(symbol, "extra" if o else "missing", *spans, 0.0)
    a, b = _content(ours, o), _content(theirs, t)
    return Difference(symbol, "equal" if a == b else "differs", *spans, 1.0 if a == b else alike(a, b))


def _content(source: Source, items: list[Item]) -> list[bytes]:
    """The lines of code; of imports the names, in no order."""
    nodes = [item.node for item in items]
    if all(isinstance(node, IMPORTS) for node in nodes):
        return sorted(name.encode() for node in nodes if isinstance(node, IMPORTS) for name in imported_names(node))
    return [line for item in items for line in source.lines[item.start : item.end] if line.strip()]
