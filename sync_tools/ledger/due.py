"""Decisions with an end: from the day after it an entry is open again, whatever its ledger's file says."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from typing import Literal

from sync_tools.config import Config, Overlay
from sync_tools.ledger.judge import overlay_of
from sync_tools.ledger.model import Entry, Ledger, Op


def ends(e: Entry, config: Config) -> str | None:
    """The last day of what was decided about an entry; where an overlay explains it, the overlay's, which may have been
    renewed since."""
    if e.op == "reverted":
        return None
    overlay = overlay_of(config, e.downstream.path) if (e.op, e.state) == ("diverged", "settled") else None
    return overlay.until if overlay else e.until


def past(until: str | None, today: date) -> bool:
    """Whether a last day is over."""
    return until is not None and until < today.isoformat()


def ran_out(ledger: Ledger, config: Config, today: date) -> tuple[Entry, ...]:
    """The entries that are open again."""
    return tuple(e for e in ledger.entries if e.state != "open" and past(ends(e, config), today))


def as_of(ledger: Ledger, config: Config, today: date) -> Ledger:
    """The ledger as it is to be read on a day."""
    again = {e.id for e in ran_out(ledger, config, today)}
    if not again:
        return ledger
    entries = tuple(_reopened(e, config) if e.id in again else e for e in ledger.entries)
    return ledger.model_copy(update={"entries": entries})


def _reopened(e: Entry, config: Config) -> Entry:
    return e.model_copy(update={"state": "open", "reason": f"{said(ends(e, config))} ({e.reason})"})


def said(until: str | None) -> str:
    return f"ran out on {until}: decide again"


def overlays_ran_out(config: Config, today: date) -> tuple[Overlay, ...]:
    """The overlays of sync.toml that hold no more."""
    return tuple(o for o in config.overlays if past(o.until, today))


@dataclass(frozen=True)
class Waiting:
    """An entry that needs a person, now (`open`, `ran out`) or on a day (`decided`). `line` is upstream's."""

    ref: str
    entry: str
    op: Op
    state: Literal["open", "ran out", "decided"]
    path: str
    line: int
    who: str
    until: str | None
    reason: str
    branch: str | None = None

    @property
    def now(self) -> bool:
        return self.state != "decided"


def waiting(ledger: Ledger, config: Config, today: date, branch: str | None = None) -> Iterable[Waiting]:
    """What waits in a ledger, and what comes back."""
    for e in ledger.entries:
        until = ends(e, config)
        if e.state == "open" or until:
            state = "open" if e.state == "open" else "ran out" if past(until, today) else "decided"
            span = e.upstream.new if e.added else e.upstream.old
            ref, path = ledger.upstream.ref, e.upstream.name
            yield Waiting(ref, e.id, e.op, state, path, max(span.start, 1), e.who, until, e.reason, branch)


def by_owner(found: Iterable[Waiting], owner: str = "") -> list[Waiting]:
    """By who is to act, then by day, what waits now first; `owner` is a part of a name, in any casing."""
    mine = [w for w in found if owner.lower() in w.who.lower()]
    return sorted(mine, key=lambda w: (not w.who, w.who, not w.now, w.until or "", w.ref, w.path, w.line))


def waiting_lines(rows: Sequence[Waiting]) -> Iterator[str]:
    """For people, by owner: when and what, then under it where and why."""
    for who, theirs in groupby(rows, key=lambda row: row.who):
        yield who or "nobody's"
        for row in theirs:
            when = {"open": "open", "ran out": f"ran out on {row.until}", "decided": f"until {row.until}"}[row.state]
            place = f"{row.path}:{row.line}" + (f" (on {row.branch})" if row.branch else "")
            yield f"  {when:<22}{row.op:<10}  {row.ref} {row.entry}"
            yield f"    {place}: {row.reason}"
