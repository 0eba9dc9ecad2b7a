"""What people decide about entries, and how that survives another port of the same change."""

import re
from collections.abc import Collection
from datetime import date

from sync_tools.errors import SyncError
from sync_tools.ledger.model import Decision, Entry, Ledger, Op

DECIDABLE: tuple[Op, ...] = ("diverged", "dropped", "deferred", "absent", "superseded", "reverted")
REFERENCE = re.compile(r"[\w.-]+/[\w.-]+#\d+")
BY_HAND = "the conflict was resolved by hand, and the resolution is not the translation"


def resolve(
    ledger: Ledger, ident: str, op: str, why: str, who: str, until: str | None = None, owner: str = ""
) -> Ledger:
    """The ledger with a decision applied to one entry (`ident` may be the beginning of an id). `owner` is who is to do it,
    where that is not `who` decided.

    Raises SyncError for an unknown entry or operation, a missing reason, a date that is none. Nobody's word makes an
    entry `ported` or `translated`: that is told by the lines.
    """
    where = f"ledger of {ledger.upstream.ref}"
    entry = _entry(ledger, ident, where)
    if op not in DECIDABLE:
        fix = f"one of {', '.join(DECIDABLE)}; what was done by hand is `diverged`"
        raise SyncError(f"no decision makes an entry {op[:20]!r}", where, fix)
    if not why.strip() or not who.strip():
        raise SyncError("a decision needs a reason and a person", where, "--why TEXT, and a git identity")
    link = REFERENCE.search(why)
    if op in ("superseded", "reverted") and link is None:
        raise SyncError(f"{op} by what?", where, "name the later change in --why, as owner/name#N")
    earlier = next((d for d in ledger.decisions if d.applied and d.entry == entry.id), None)
    decision = Decision(
        entry=entry.id,
        op=op,
        why=why.strip(),
        who=who,
        was=earlier.was if earlier else entry.op,
        until=last_day(until),
        owner=owner.strip(),
    )
    decided = entry.model_copy(
        update={
            "op": op,
            "state": "decided",
            "reason": decision.why,
            "who": decision.owner or who,
            "until": decision.until,
            "link": link[0] if link else None,
        }
    )
    others = [d for d in ledger.decisions if d.entry != entry.id]
    return _with(ledger, [decided if e is entry else e for e in ledger.entries], [*others, decision])


def carry(ledger: Ledger, earlier: Ledger) -> Ledger:
    """A fresh ledger of a change that was ported before: what was decided then is offered, nothing of it is applied;
    evidence is kept, since it names the tree that it speaks of."""
    mine = {d.entry for d in ledger.decisions}
    offered = [d.model_copy(update={"applied": False}) for d in earlier.decisions if d.entry not in mine]
    kept = ledger.verification.model_copy(update={"evidence": earlier.verification.evidence})
    return _with(ledger, ledger.entries, [*ledger.decisions, *offered]).model_copy(update={"verification": kept})


def offered(ledger: Ledger) -> tuple[Decision, ...]:
    """Decisions of an earlier port that wait to be taken again."""
    return tuple(d for d in ledger.decisions if not d.applied)


def settle(ledger: Ledger, paths: Collection[str], who: str) -> Ledger:
    """After a paused port was continued: what differs in the files of the fork whose conflicts `who` resolved is that
    resolution."""
    for e in ledger.entries:
        if e.op == "diverged" and e.state == "open" and e.downstream.path in paths:
            ledger = resolve(ledger, e.id, "diverged", BY_HAND, who)
    return ledger


def waiting(ledger: Ledger, today: date) -> tuple[Entry, ...]:
    """The entries that need a person: the open ones, and those whose decision has run out."""
    day = today.isoformat()
    return tuple(e for e in ledger.entries if e.state == "open" or (e.until is not None and e.until < day))


def _with(ledger: Ledger, entries: "list[Entry] | tuple[Entry, ...]", decisions: list[Decision]) -> Ledger:
    ordered = tuple(sorted(decisions, key=lambda d: (not d.applied, d.entry)))
    return ledger.model_copy(update={"entries": tuple(entries), "decisions": ordered})


def _entry(ledger: Ledger, ident: str, where: str) -> Entry:
    found = [e for e in ledger.entries if ident and e.id.startswith(ident)]
    if len(found) != 1:
        what = f"{len(found)} entries begin with {ident[:20]!r}" if found else f"no entry {ident[:20]!r}"
        raise SyncError(what, where, "`vime-sync ledger show` prints the ids")
    return found[0]


def last_day(until: str | None) -> str | None:
    """What `--until` says, None where it says nothing. Raises SyncError for what is no day."""
    if not until:
        return None
    try:
        return date.fromisoformat(until).isoformat()
    except ValueError as e:
        raise SyncError(f"not a date: {until[:20]!r}", "--until", "write it as 2026-03-31") from e
