"""The three-way merge of a sequence of keyed items: a job's rows, a row's options, a template's jobs.

One law holds: with ours equal to before, the merged sequence is after. Otherwise upstream's changes are made to ours: what
upstream added is placed after the item that it follows upstream and that stands in ours, and ours' own items stay.
"""

from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

State = Literal["kept", "present", "added", "changed", "removed", "kept-by-ours", "lost-by-ours"]
"""kept: upstream left it. present: ours has what upstream added. changed: upstream changed it and ours has it.
removed: upstream removed it, ours had it as before. kept-by-ours: upstream removed what ours had edited.
lost-by-ours: upstream changed what ours no longer has."""


@dataclass(frozen=True)
class Item:
    """`key` is everything that the item says, `kin` what it is called: the same kin with another key was edited."""

    key: Hashable
    kin: Hashable


@dataclass(frozen=True)
class Slot:
    """One place of the merged sequence, with the index of its item on each side. `moved`: upstream moved it."""

    state: State
    before: int | None = None
    ours: int | None = None
    after: int | None = None
    moved: bool = False


def pair(left: Sequence[Item], right: Sequence[Item]) -> dict[int, int]:
    """Which item of `right` is which of `left`: equal ones in their order, then those of the same kin in their order."""
    pairs: dict[int, int] = {}
    for of in (lambda item: (item.key, item.kin), lambda item: item.kin):
        waiting: dict[Hashable, deque[int]] = defaultdict(deque)
        taken = set(pairs.values())
        for at, item in enumerate(right):
            if at not in taken:
                waiting[of(item)].append(at)
        for at, item in enumerate(left):
            if at not in pairs and waiting[of(item)]:
                pairs[at] = waiting[of(item)].popleft()
    return pairs


def merge(before: Sequence[Item], ours: Sequence[Item], after: Sequence[Item]) -> list[Slot]:
    """The merged sequence; slots that are no longer in it (`removed`) and that ours lacks (`lost-by-ours`) included."""
    upstream, mine = pair(before, after), pair(before, ours)
    back = {o: b for b, o in mine.items()}
    own = [o for o in range(len(ours)) if o not in back]
    new = [a for a in range(len(after)) if a not in set(upstream.values())]
    both = {own[o]: new[a] for o, a in pair([ours[o] for o in own], [after[a] for a in new]).items()}
    moved = set(upstream.values()) - set(_increasing([upstream[b] for b in sorted(upstream)]))

    slots = [_of_ours(o, back.get(o), both.get(o), upstream, moved, before, ours, after) for o in range(len(ours))]
    standing = {slot.after for slot in slots if slot.after is not None}
    lost = {a: b for b, a in upstream.items() if a not in standing and before[b].key != after[a].key}
    dropped = {a for a in upstream.values() if a not in standing and a not in lost}
    waiting = {slot.after: slot for slot in slots if slot.moved}
    waiting |= {a: Slot("lost-by-ours", before=b, after=a) for a, b in lost.items()}
    waiting |= {a: Slot("added", after=a) for a in new if a not in standing}
    placed = [slot for slot in slots if not slot.moved]
    for a in sorted(a for a in waiting if a is not None and a not in dropped):
        placed.insert(_place(a, placed), waiting[a])
    return placed


def _of_ours(
    o: int,
    b: int | None,
    a: int | None,
    upstream: dict[int, int],
    moved: set[int],
    before: Sequence[Item],
    ours: Sequence[Item],
    after: Sequence[Item],
) -> Slot:
    if b is None:
        return Slot("kept", ours=o) if a is None else Slot("present", ours=o, after=a)
    if b not in upstream:
        return Slot("removed" if before[b].key == ours[o].key else "kept-by-ours", before=b, ours=o)
    a = upstream[b]
    return Slot("kept" if before[b].key == after[a].key else "changed", b, o, a, a in moved)


def _place(a: int, placed: Sequence[Slot]) -> int:
    """After the nearest item that it follows upstream, else before the nearest that follows it, else at the end."""
    at = {slot.after: i for i, slot in enumerate(placed) if slot.after is not None}
    earlier = [known for known in at if known < a]
    if earlier:
        return at[max(earlier)] + 1
    return at[min(at)] if at else len(placed)


def _increasing(values: Sequence[int]) -> list[int]:
    """A longest increasing subsequence."""
    tops: list[int] = []
    at: list[int] = []
    previous: list[int] = []
    for i, value in enumerate(values):
        place = bisect_left(tops, value)
        previous.append(at[place - 1] if place else -1)
        tops[place : place + 1] = [value]
        at[place : place + 1] = [i]
    chain, i = [], at[-1] if at else -1
    while i >= 0:
        chain.append(values[i])
        i = previous[i]
    return chain[::-1]
