"""Line diff: patience over the lines that occur once, Myers between them, and groups slid to a canonical place.

Two insertions of the same text are reported at the same place whichever side made them: a group that could stand
higher or lower stands as low as it can.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sync_tools.merge.lines import common_ends

MYERS_LIMIT = 128

_Path = Any  # nested (previous, line of a, line of b, length), or None at the start


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines [a0, a1) of the old text became lines [b0, b1) of the new one."""

    a0: int
    a1: int
    b0: int
    b1: int


def hunks(a: Sequence[bytes], b: Sequence[bytes]) -> list[Hunk]:
    """The differences, in order and never touching one another. No difference is missed or invented; the choice among
    equally true ones favours lines that occur once."""
    head, tail = common_ends(a, b)
    names: dict[bytes, int] = {}
    left = [names.setdefault(line, len(names)) for line in a[head : len(a) - tail]]
    right = [names.setdefault(line, len(names)) for line in b[head : len(b) - tail]]
    return _slid(a, b, _groups(_matches(left, right), len(left), len(right), head))


def _matches(a: list[int], b: list[int]) -> list[tuple[int, int]]:
    """Pairs of equal lines, increasing in both."""
    found: list[tuple[int, int]] = []
    todo = [(0, len(a), 0, len(b))]
    while todo:
        a0, a1, b0, b1 = todo.pop()
        while a0 < a1 and b0 < b1 and a[a0] == b[b0]:
            found.append((a0, b0))
            a0 += 1
            b0 += 1
        while a0 < a1 and b0 < b1 and a[a1 - 1] == b[b1 - 1]:
            a1 -= 1
            b1 -= 1
            found.append((a1, b1))
        if a0 == a1 or b0 == b1:
            continue
        anchors = _anchors(a, a0, a1, b, b0, b1)
        if not anchors:
            found.extend(_myers(a, a0, a1, b, b0, b1))
            continue
        for i, j in [*anchors, (a1, b1)]:
            todo.append((a0, i, b0, j))
            a0, b0 = i, j
    found.sort()
    return found


def _anchors(a: list[int], a0: int, a1: int, b: list[int], b0: int, b1: int) -> list[tuple[int, int]]:
    """The longest increasing run of lines that occur exactly once on both sides."""
    once_a = {line for line, n in Counter(a[a0:a1]).items() if n == 1}
    once = {line for line, n in Counter(b[b0:b1]).items() if n == 1 and line in once_a}
    if not once:
        return []
    where = {a[i]: i for i in range(a0, a1) if a[i] in once}
    return _increasing([(where[b[j]], j) for j in range(b0, b1) if b[j] in once])


def _increasing(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Longest subsequence of `pairs` (ordered by the second) that increases in the first."""
    tops: list[int] = []
    piles: list[int] = []
    back: list[int] = []
    for n, (i, _) in enumerate(pairs):
        at = bisect_left(tops, i)
        back.append(piles[at - 1] if at else -1)
        if at == len(tops):
            tops.append(i)
            piles.append(n)
        else:
            tops[at] = i
            piles[at] = n
    chain = []
    n = piles[-1]
    while n >= 0:
        chain.append(pairs[n])
        n = back[n]
    return chain[::-1]


def _myers(a: list[int], a0: int, a1: int, b: list[int], b0: int, b1: int) -> list[tuple[int, int]]:
    """Shortest edit script of the lines that both have; beyond MYERS_LIMIT edits it settles for the furthest point
    reached and goes on from there."""
    shared = set(a[a0:a1]).intersection(b[b0:b1])
    left = [n for n in range(a0, a1) if a[n] in shared]
    right = [n for n in range(b0, b1) if b[n] in shared]
    x, y = [a[n] for n in left], [b[n] for n in right]
    found: list[tuple[int, int]] = []
    i = j = 0
    while i < len(x) and j < len(y):
        i, j, pairs = _furthest(x, i, len(x), y, j, len(y))
        found.extend((left[m], right[n]) for m, n in pairs)
    return found


def _furthest(a: list[int], a0: int, a1: int, b: list[int], b0: int, b1: int) -> tuple[int, int, list[tuple[int, int]]]:
    """The point reached (the end, or the best one within the limit) and the equal lines on the way to it."""
    n, m = a1 - a0, b1 - b0
    front: dict[int, tuple[int, _Path]] = {-1: (0, None)}
    best: tuple[int, int, _Path] = (0, 0, None)
    for d in range(MYERS_LIMIT + 1):
        for k in range(max(-d, -m), min(d, n) + 1):
            if (k + d) % 2:
                continue
            step = _step(front, k, n, m) if d else (0, None)
            if step is None:
                front.pop(k, None)
                continue
            start, path = step
            x = start
            while x < n and x - k < m and a[a0 + x] == b[b0 + x - k]:
                x += 1
            if x > start:
                path = (path, a0 + start, b0 + start - k, x - start)
            front[k] = (x, path)
            if 2 * x - k > best[0] + best[1]:
                best = (x, x - k, path)
            if x == n and x - k == m:
                return a1, b1, _pairs(path)
    return a0 + best[0], b0 + best[1], _pairs(best[2])


def _step(front: dict[int, tuple[int, _Path]], k: int, n: int, m: int) -> tuple[int, _Path] | None:
    """The furthest start on diagonal `k`: an insertion from the one above or a deletion from the one below."""
    above, below = front.get(k + 1), front.get(k - 1)
    inserted = above if above is not None and above[0] - k <= m else None
    deleted = (below[0] + 1, below[1]) if below is not None and below[0] < n else None
    if inserted is None or (deleted is not None and deleted[0] > inserted[0]):
        return deleted
    return inserted


def _pairs(path: _Path) -> list[tuple[int, int]]:
    found = []
    while path is not None:
        path, i, j, length = path
        found.extend((i + n, j + n) for n in range(length))
    return found


def _groups(pairs: list[tuple[int, int]], n: int, m: int, head: int) -> list[Hunk]:
    """What lies between the equal lines, `head` lines further down."""
    found = []
    i = j = 0
    for x, y in [*pairs, (n, m)]:
        if x > i or y > j:
            found.append(Hunk(i + head, x + head, j + head, y + head))
        i, j = x + 1, y + 1
    return found


def _slid(a: Sequence[bytes], b: Sequence[bytes], groups: list[Hunk]) -> list[Hunk]:
    """Pure insertions and deletions as low as they can stand; a group that reaches the next one joins it."""
    result: list[Hunk] = []
    for group in reversed(groups):
        while True:
            limit = result[-1].a0 if result else len(a)
            group = _lowered(a, b, group, limit)
            if not result or group.a1 < limit:
                break
            below = result.pop()
            group = Hunk(group.a0, below.a1, group.b0, below.b1)
        result.append(group)
    return result[::-1]


def _lowered(a: Sequence[bytes], b: Sequence[bytes], group: Hunk, limit: int) -> Hunk:
    a0, a1, b0, b1 = group.a0, group.a1, group.b0, group.b1
    if a0 == a1:
        while a1 < limit and b[b0] == b[b1]:
            a0, a1, b0, b1 = a0 + 1, a1 + 1, b0 + 1, b1 + 1
    elif b0 == b1:
        while a1 < limit and a[a0] == a[a1]:
            a0, a1, b0, b1 = a0 + 1, a1 + 1, b0 + 1, b1 + 1
    return Hunk(a0, a1, b0, b1)
