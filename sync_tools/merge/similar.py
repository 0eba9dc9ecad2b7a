"""How alike two texts are, by the lines they share."""

from collections import Counter
from collections.abc import Iterable

from sync_tools.merge.lines import split


def similar(a: bytes, b: bytes) -> float:
    """1.0 for equal texts, 0.0 for texts without a line in common; blank lines and indentation don't count."""
    return alike(split(a), split(b))


def alike(a: Iterable[bytes], b: Iterable[bytes]) -> float:
    """`similar` of lines."""
    left, right = _bag(a), _bag(b)
    total = left.total() + right.total()
    return 2 * (left & right).total() / total if total else 1.0


def held(part: Iterable[bytes], whole: Iterable[bytes]) -> float:
    """The share of `part`'s lines that `whole` has."""
    left, right = _bag(part), _bag(whole)
    return (left & right).total() / left.total() if left else 1.0


def _bag(lines: Iterable[bytes]) -> Counter[bytes]:
    return Counter(text for line in lines if (text := line.strip()))
