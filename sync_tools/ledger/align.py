"""Which lines of one text became which lines of another."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

Pair = tuple[int, int]

DENSE = 40_000  # cells up to which a stretch without unique common lines is compared in full


@dataclass(frozen=True)
class Alignment:
    """Line i of the first text became `low[i]`..`high[i]` (half open) of the second, of `size` lines.

    `same[i]`: it is that one line, unchanged. Where a block of lines was replaced by one of another length, each of its
    lines has the whole block as its image; a line that vanished has an empty one.
    """

    low: tuple[int, ...]
    high: tuple[int, ...]
    same: tuple[bool, ...]
    size: int

    def image(self, lines: range) -> range:
        """What became of a range of lines; an empty range maps to the gap after the line before it."""
        if not lines:
            at = self.high[lines.start - 1] if lines.start else 0
            return range(at, at)
        return range(min(self.low[i] for i in lines), max(self.high[i] for i in lines))

    def kept(self) -> frozenset[int]:
        """The lines of the second text that are unchanged lines of the first."""
        return frozenset(low for low, same in zip(self.low, self.same) if same)


def align(a: Sequence[bytes], b: Sequence[bytes]) -> Alignment:
    """Equal lines match; between them, lines of equal shape (all but their words) match, then block maps to block."""
    pairs = common(a, b)
    out = _Images(len(a), len(b))
    for (a0, b0), (a1, b1) in pairwise([(-1, -1), *pairs, (len(a), len(b))]):
        _replaced(a, b, range(a0 + 1, a1), range(b0 + 1, b1), out)
        if a1 < len(a):
            out.pair(a1, b1, same=True)
    return out.alignment()


def without(a: Sequence[bytes], b: Sequence[bytes], gone: frozenset[int]) -> Alignment:
    """As `align`, where the lines `gone` of the first text are known to have vanished."""
    if not gone:
        return align(a, b)
    rest = [i for i in range(len(a)) if i not in gone]
    inner = align([a[i] for i in rest], b)
    out, at = _Images(len(a), len(b)), 0
    for i in range(len(a)):
        if i in gone:
            edge = inner.high[at - 1] if at else 0
            out.block(range(i, i + 1), range(edge, edge))
        else:
            out.low[i], out.high[i], out.same[i] = inner.low[at], inner.high[at], inner.same[at]
            at += 1
    return out.alignment()


def common(a: Sequence[object], b: Sequence[object]) -> list[Pair]:
    """Pairs of equal items, increasing on both sides: patience (unique items are anchors), exact where that is cheap."""
    found: list[Pair] = []
    todo = [(0, len(a), 0, len(b))]
    while todo:
        a0, a1, b0, b1 = todo.pop()
        while a0 < a1 and b0 < b1 and a[a0] == b[b0]:
            found.append((a0, b0))
            a0, b0 = a0 + 1, b0 + 1
        while a0 < a1 and b0 < b1 and a[a1 - 1] == b[b1 - 1]:
            a1, b1 = a1 - 1, b1 - 1
            found.append((a1, b1))
        if a0 == a1 or b0 == b1:
            continue
        anchors = _anchors(a, b, range(a0, a1), range(b0, b1))
        if anchors:
            found += anchors
            edges = [(a0 - 1, b0 - 1), *anchors, (a1, b1)]
            todo += [(x0 + 1, x1, y0 + 1, y1) for (x0, y0), (x1, y1) in pairwise(edges)]
        elif (a1 - a0) * (b1 - b0) <= DENSE:
            found += _exact(a, b, range(a0, a1), range(b0, b1))
    return sorted(found)


class _Images:
    """An alignment while it is being built."""

    def __init__(self, a: int, b: int) -> None:
        self.low, self.high, self.same, self.size = [0] * a, [0] * a, [False] * a, b

    def pair(self, i: int, j: int, same: bool = False) -> None:
        self.low[i], self.high[i], self.same[i] = j, j + 1, same

    def block(self, a: range, b: range) -> None:
        for i in a:
            self.low[i], self.high[i] = b.start, b.stop

    def alignment(self) -> Alignment:
        return Alignment(tuple(self.low), tuple(self.high), tuple(self.same), self.size)


def _replaced(a: Sequence[bytes], b: Sequence[bytes], olds: range, news: range, out: _Images) -> None:
    if len(olds) == len(news):
        for i, j in zip(olds, news):
            out.pair(i, j)
        return
    if not olds:
        return
    pairs = common([_shape(a[i]) for i in olds], [_shape(b[j]) for j in news]) if news else []
    edges = [(-1, -1), *pairs, (len(olds), len(news))]
    for (i0, j0), (i1, j1) in pairwise(edges):
        out.block(olds[i0 + 1 : i1], news[j0 + 1 : j1])
        if i1 < len(olds):
            out.pair(olds[i1], news[j1])


def _shape(line: bytes) -> bytes:
    """What renaming leaves of a line."""
    return re.sub(rb"\w+", b"w", line)


def _anchors(a: Sequence[object], b: Sequence[object], olds: range, news: range) -> list[Pair]:
    """Items that stand once on each side, in the longest order that both sides share."""
    in_a, in_b = Counter(a[i] for i in olds), Counter(b[j] for j in news)
    at = {a[i]: i for i in olds if in_a[a[i]] == 1}
    pairs = [(at[b[j]], j) for j in news if in_b[b[j]] == 1 and b[j] in at]
    tails: list[int] = []
    piles: list[int] = []
    back: list[int] = []
    for n, (i, _) in enumerate(pairs):
        pile = bisect_left(tails, i)
        back.append(piles[pile - 1] if pile else -1)
        if pile == len(tails):
            tails.append(i)
            piles.append(n)
        else:
            tails[pile], piles[pile] = i, n
    chain, n = [], piles[-1] if piles else -1
    while n >= 0:
        chain.append(pairs[n])
        n = back[n]
    return chain[::-1]


def _exact(a: Sequence[object], b: Sequence[object], olds: range, news: range) -> list[Pair]:
    """A longest common subsequence by the textbook table."""
    rest = [[0] * (len(news) + 1) for _ in range(len(olds) + 1)]
    for i in reversed(range(len(olds))):
        for j in reversed(range(len(news))):
            same = a[olds[i]] == b[news[j]]
            rest[i][j] = rest[i + 1][j + 1] + 1 if same else max(rest[i + 1][j], rest[i][j + 1])
    pairs, i, j = [], 0, 0
    while i < len(olds) and j < len(news):
        if a[olds[i]] == b[news[j]]:
            pairs.append((olds[i], news[j]))
            i, j = i + 1, j + 1
        elif rest[i + 1][j] >= rest[i][j + 1]:
            i += 1
        else:
            j += 1
    return pairs
