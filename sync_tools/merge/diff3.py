"""Three-way comparison of lines: which stretches of the three texts belong together, and who changed them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from sync_tools.merge.diff import Hunk, hunks
from sync_tools.merge.lines import Span, common_ends

Lines = Sequence[bytes]
Kind = Literal["same", "ours", "theirs", "both", "conflict"]


@dataclass(frozen=True, slots=True)
class Region:
    """A stretch of the three texts. `kind` says who changed it; `both` is one change made by both."""

    kind: Kind
    base: Span
    ours: Span
    theirs: Span

    def shifted(self, base: int, ours: int, theirs: int) -> "Region":
        return Region(
            self.kind,
            (self.base[0] + base, self.base[1] + base),
            (self.ours[0] + ours, self.ours[1] + ours),
            (self.theirs[0] + theirs, self.theirs[1] + theirs),
        )


Touch = Callable[[Region, Region], bool]
"""May two changes of different sides, with no unchanged line between them, both be taken?"""


def compare3(base: Lines, ours: Lines, theirs: Lines) -> list[Region]:
    """Regions that tile the three texts. A conflict is a stretch of base that both changed differently; changes that
    only touch are regions of their own, one after the other."""
    return align(base, ours, theirs, hunks(base, ours), hunks(base, theirs))


def align(base: Lines, ours: Lines, theirs: Lines, left: list[Hunk], right: list[Hunk]) -> list[Region]:
    """`compare3` where the changes of ours and theirs are known."""
    changes = _changes(left, right)
    regions: list[Region] = []
    at = (0, 0, 0)
    for change in changes:
        _append_same(regions, at, change.base[0] - at[0])
        regions.extend(_shared(change, base, ours, theirs))
        at = (change.base[1], change.ours[1], change.theirs[1])
    _append_same(regions, at, len(base) - at[0])
    return regions


def join_touching(regions: list[Region], may_touch: Touch) -> list[Region]:
    """Opposed changes that touch and may not become one conflict."""
    result: list[Region] = []
    for region in regions:
        if result and _opposed(result[-1], region) and not may_touch(result[-1], region):
            region = joined([result.pop(), region])
        result.append(region)
    return result


def join_near(regions: list[Region], gap: int) -> list[Region]:
    """Opposed changes with at most `gap` unchanged lines between them become one conflict."""
    result: list[Region] = []
    for region in regions:
        near = result[-2:] if len(result) > 1 and result[-1].kind == "same" else result[-1:]
        between = near[-1].base[1] - near[-1].base[0] if len(near) == 2 else 0
        if near and _opposed(near[0], region) and between <= gap:
            del result[-len(near) :]
            region = joined([*near, region])
        result.append(region)
    return result


def _opposed(above: Region, below: Region) -> bool:
    """Whether the two are changes of different sides."""
    kinds = {above.kind, below.kind}
    return kinds == {"ours", "theirs"} or ("conflict" in kinds and not kinds & {"same", "both"})


def joined(regions: Sequence[Region]) -> Region:
    first, last = regions[0], regions[-1]
    return Region(
        "conflict",
        (first.base[0], last.base[1]),
        (first.ours[0], last.ours[1]),
        (first.theirs[0], last.theirs[1]),
    )


def _shared(change: Region, base: Lines, ours: Lines, theirs: Lines) -> list[Region]:
    """A stretch that both changed, without what they changed alike: where one side went no further than the other, the
    rest is the other's alone."""
    if change.kind != "conflict":
        return [change]
    b, o, t = base[slice(*change.base)], ours[slice(*change.ours)], theirs[slice(*change.theirs)]
    if o == t:
        return [Region("both", change.base, change.ours, change.theirs)]
    cuts = [*_after_head(change, b, o, t), *_before_tail(change, b, o, t)]
    certain = [cut for cut in cuts if _unchanged(cut)] or cuts
    return certain[0] if len(certain) == 1 else [change]


def _after_head(change: Region, b: Lines, o: Lines, t: Lines) -> Iterator[list[Region]]:
    """Both start alike, and then one side has what is left of base."""
    head, _ = common_ends(o, t)
    sides: tuple[tuple[Kind, Lines], ...] = (("ours", t), ("theirs", o))
    for kind, other in sides:
        rest = len(other) - head
        if head and rest <= len(b) and other[head:] == b[len(b) - rest :]:
            at = change.base[1] - rest, change.ours[0] + head, change.theirs[0] + head
            yield _cut(change, at, ("both", kind))


def _before_tail(change: Region, b: Lines, o: Lines, t: Lines) -> Iterator[list[Region]]:
    """Both end alike, and until then one side has what base starts with."""
    _, tail = common_ends(o, t)
    sides: tuple[tuple[Kind, Lines], ...] = (("ours", t), ("theirs", o))
    for kind, other in sides:
        rest = len(other) - tail
        if tail and rest <= len(b) and other[:rest] == b[:rest]:
            at = change.base[0] + rest, change.ours[1] - tail, change.theirs[1] - tail
            yield _cut(change, at, (kind, "both"))


def _unchanged(cut: list[Region]) -> bool:
    """Whether one side's part stands against lines of base that the other has, not against nothing."""
    return any(region.kind != "both" and region.base[0] < region.base[1] for region in cut)


def _cut(region: Region, at: tuple[int, int, int], kinds: tuple[Kind, Kind]) -> list[Region]:
    b, o, t = at
    return [
        Region(kinds[0], (region.base[0], b), (region.ours[0], o), (region.theirs[0], t)),
        Region(kinds[1], (b, region.base[1]), (o, region.ours[1]), (t, region.theirs[1])),
    ]


def _append_same(regions: list[Region], at: tuple[int, int, int], count: int) -> None:
    if count:
        b, o, t = at
        regions.append(Region("same", (b, b + count), (o, o + count), (t, t + count)))


@dataclass(slots=True)
class _Side:
    """One side's hunks, consumed in order, and how far its lines are ahead of base's."""

    todo: list[Hunk]
    at: int = 0
    ahead: int = 0

    def peek(self) -> Hunk | None:
        return self.todo[self.at] if self.at < len(self.todo) else None

    def take_overlapping(self, lo: int, hi: int) -> int | None:
        """Consumes the next hunk if it shares a base line, or an insertion point within, with [lo, hi); its end."""
        hunk = self.peek()
        if hunk is None or not _overlaps(hunk, lo, hi):
            return None
        self.at += 1
        self.ahead = hunk.b1 - hunk.a1
        return hunk.a1


def _overlaps(hunk: Hunk, lo: int, hi: int) -> bool:
    if hunk.a0 == hunk.a1:
        return lo < hunk.a0 < hi or lo == hi == hunk.a0
    if lo == hi:
        return hunk.a0 < lo < hunk.a1
    return hunk.a0 < hi and lo < hunk.a1


def _changes(ours: list[Hunk], theirs: list[Hunk]) -> list[Region]:
    left, right = _Side(ours), _Side(theirs)
    result = []
    while (first := _first(left, right)) is not None:
        lo, hi = first.a0, first.a1
        start = (lo + left.ahead, lo + right.ahead)
        taken = {"ours": False, "theirs": False}
        grown = True
        while grown:
            grown = False
            for name, side in (("ours", left), ("theirs", right)):
                while (end := side.take_overlapping(lo, hi)) is not None:
                    hi = max(hi, end)
                    grown = taken[name] = True
        kind: Kind = "conflict" if all(taken.values()) else "ours" if taken["ours"] else "theirs"
        result.append(Region(kind, (lo, hi), (start[0], hi + left.ahead), (start[1], hi + right.ahead)))
    return result


def _first(left: _Side, right: _Side) -> Hunk | None:
    heads = [h for h in (left.peek(), right.peek()) if h is not None]
    return min(heads, key=lambda h: (h.a0, h.a1), default=None)
