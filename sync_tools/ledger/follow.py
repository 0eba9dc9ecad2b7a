"""Where lines of one version of a file stand in another, also those of a definition or a CI row that moved."""

import re
from typing import Protocol

from sync_tools.ledger.align import Alignment, align
from sync_tools.ledger.symbols import NOWHERE, Label

TEMPLATE = ".j2"


class Text(Protocol):
    """Lines, and the definition that each belongs to."""

    @property
    def path(self) -> str: ...

    @property
    def lines(self) -> list[bytes]: ...

    @property
    def labels(self) -> tuple[Label, ...]: ...


def follow(a: Text, b: Text) -> Alignment:
    """An alignment that also finds a definition which stands elsewhere in the second text."""
    found = align(a.lines, b.lines)
    gone = {line for same, line in zip(found.same, a.lines) if line and not same}
    if gone and a.path.endswith(TEMPLATE):
        return _anywhere(a, b, found)
    if gone.isdisjoint(b.lines):
        return found  # nothing of it can stand elsewhere: most changes, and parsing is what costs most here
    lost = {label for label, same, line in zip(a.labels, found.same, a.lines) if line and not same} - {NOWHERE}
    here, there = _stretches(a.labels, lost), _stretches(b.labels, lost)
    low, high, same = list(found.low), list(found.high), list(found.same)
    for label in sorted(here.keys() & there.keys()):
        olds, news = here[label], there[label]
        inner = align([a.lines[i] for i in olds], [b.lines[j] for j in news])
        if sum(inner.same) > sum(same[i] for i in olds):
            for n, i in enumerate(olds):
                low[i], high[i], same[i] = news.start + inner.low[n], news.start + inner.high[n], inner.same[n]
    return Alignment(tuple(low), tuple(high), tuple(same), len(b.lines))


def _stretches(labels: tuple[Label, ...], wanted: set[Label]) -> dict[Label, range]:
    """Where each definition stands, of those that stand in one piece."""
    at: dict[Label, list[int]] = {}
    for i, label in enumerate(labels):
        if label in wanted:
            at.setdefault(label, []).append(i)
    return {label: range(on[0], on[-1] + 1) for label, on in at.items() if on[-1] - on[0] + 1 == len(on)}


def _anywhere(a: Text, b: Text, found: Alignment) -> Alignment:
    """The rows of a CI matrix stand where the fork has their job, in its own spacing and quotes."""
    low, high, same = list(found.low), list(found.high), list(found.same)
    free = set(range(len(b.lines))) - found.kept()
    at: dict[bytes, list[int]] = {}
    for j in sorted(free, reverse=True):
        at.setdefault(_squeezed(b.lines[j]), []).append(j)
    for i, line in enumerate(a.lines):
        rows = at.get(_squeezed(line)) if line and not same[i] else None
        if rows:
            low[i] = rows.pop()
            high[i], same[i] = low[i] + 1, True
    return Alignment(tuple(low), tuple(high), tuple(same), found.size)


def _squeezed(line: bytes) -> bytes:
    return re.sub(rb"[\s,]+", b"", line).replace(b'"', b"'")
