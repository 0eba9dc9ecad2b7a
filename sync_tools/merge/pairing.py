"""Which item of one version of a file is which item of another, renames included."""

from collections import Counter
from collections.abc import Sequence

from sync_tools.merge.items import Item
from sync_tools.merge.similar import alike

RENAMED = 0.6
LEAD = 0.15


def pair(
    base: Sequence[Item], base_lines: Sequence[bytes], side: Sequence[Item], lines: Sequence[bytes]
) -> dict[int, int] | None:
    """Index in `side` -> index in `base`. None where a name occurs more often in one than in the other, so that order
    does not tell which is which."""
    counts = Counter(item.key for item in base), Counter(item.key for item in side)
    if any(0 < counts[0][k] != counts[1][k] > 0 for k in counts[0]):
        return None
    known = {item.identity: n for n, item in enumerate(base)}
    pairs = {n: known[item.identity] for n, item in enumerate(side) if item.identity in known}
    _pair_renamed(base, base_lines, side, lines, pairs)
    _pair_between(base, side, pairs)
    return pairs


def _pair_renamed(
    base: Sequence[Item],
    base_lines: Sequence[bytes],
    side: Sequence[Item],
    lines: Sequence[bytes],
    pairs: dict[int, int],
) -> None:
    """A definition that is gone and one that is new are the same where their bodies are alike and no other's are."""
    gone = [n for n, item in enumerate(base) if item.is_definition and n not in pairs.values()]
    new = [n for n, item in enumerate(side) if item.is_definition and n not in pairs]
    scores = {(g, n): _alike(base[g], base_lines, side[n], lines) for g in gone for n in new}
    for (g, n), score in scores.items():
        rivals = [s for (x, y), s in scores.items() if (x == g) != (y == n)]
        if score >= RENAMED and all(score > rival + LEAD for rival in rivals):
            pairs[n] = g


def _alike(a: Item, a_lines: Sequence[bytes], b: Item, b_lines: Sequence[bytes]) -> float:
    """Likeness of what follows the first line; too little of it proves nothing."""
    if type(a.node) is not type(b.node):
        return 0.0
    left, right = a_lines[a.code + 1 : a.end], b_lines[b.code + 1 : b.end]
    return alike(left, right) if min(len(left), len(right)) >= 3 else 0.0


def _pair_between(base: Sequence[Item], side: Sequence[Item], pairs: dict[int, int]) -> None:
    """A statement that stands alone between the same neighbours is the same one, changed."""
    back = {b: n for n, b in pairs.items()}
    for n, item in enumerate(side):
        at = pairs[n - 1] + 1 if n and n - 1 in pairs else 0 if n == 0 else None
        if n in pairs or item.is_definition or at is None or at >= len(base) or at in back:
            continue
        below = pairs.get(n + 1) if n + 1 < len(side) else len(base)
        if below == at + 1 and type(base[at].node) is type(item.node) and base[at].key[0] == item.key[0]:
            pairs[n], back[at] = at, n
