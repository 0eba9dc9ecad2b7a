"""Three-way merge of an order: ours, with what theirs inserted and moved."""

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

T = TypeVar("T", bound=Hashable)


def merge_order(
    base: Sequence[T],
    ours: Sequence[T],
    theirs: Sequence[T],
    weight: Callable[[T], int],
    before: Callable[[T, T], bool],
) -> list[T]:
    """Every element of ours and theirs once. What theirs moved and ours did not stands where theirs has it; what theirs
    inserted follows its neighbour there and ours' insertions at that place, but for those that it comes `before`."""
    moved_by_ours, moved_by_theirs = _moved(base, ours, weight), _moved(base, theirs, weight)
    result = [x for x in ours if x not in moved_by_theirs or x in moved_by_ours]
    known = set(base) | set(theirs)
    for n, x in enumerate(theirs):
        if x in result:
            continue
        at = _place(result, theirs, n, moved_by_ours)
        while at < len(result) and result[at] not in known and not before(x, result[at]):
            at += 1
        result.insert(at, x)
    return result


def _place(result: list[T], theirs: Sequence[T], n: int, moved: set[T]) -> int:
    """After the nearest element above that is there, unless ours moved it away; else before the nearest below."""
    above = next((x for x in reversed(theirs[:n]) if x in result), None)
    below = next((x for x in theirs[n + 1 :] if x in result and x not in moved), None)
    if above is not None and (above not in moved or below is None):
        return result.index(above) + 1
    return result.index(below) if below is not None else 0


def _moved(base: Sequence[T], side: Sequence[T], weight: Callable[[T], int]) -> set[T]:
    """The lightest elements whose removal leaves the two in the same order."""
    rank = {x: n for n, x in enumerate(base)}
    common = [x for x in side if x in rank]
    ranks = [rank[x] for x in common]
    if ranks == sorted(ranks):
        return set()
    best: list[tuple[int, int]] = []
    for n, x in enumerate(common):
        chains = [(best[m][0], m) for m in range(n) if ranks[m] < ranks[n]]
        total, link = max(chains, default=(0, -1))
        best.append((total + weight(x), link))
    n = max(range(len(best)), key=lambda m: best[m][0])
    kept = set()
    while n >= 0:
        kept.add(common[n])
        n = best[n][1]
    return set(common) - kept
