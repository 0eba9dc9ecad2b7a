"""`sync ledger list`: a row a ledger."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from sync_tools.ledger.decide import offered, waiting
from sync_tools.ledger.escape import plain, references
from sync_tools.ledger.evidence import LEVELS, stale
from sync_tools.ledger.model import Ledger


@dataclass(frozen=True)
class Row:
    """`state`: conflicts, open, reverted, present, or done. `evidence` is the highest level that is not stale. `branch`:
    where the ledger stands, None for the checkout."""

    ref: str
    subject: str
    date: str
    state: str
    entries: dict[str, int]
    added: int
    removed: int
    waiting: int
    offered: int
    evidence: str | None
    stale: int
    branch: str | None = None


def overview(
    ledgers: Iterable[Ledger], today: date, tree: str | None = None, branch: str | None = None
) -> tuple[Row, ...]:
    """The rows; `tree` is the `code_tree` of HEAD, without which evidence is not judged stale."""
    return tuple(_row(x, today, tree, branch) for x in ledgers)


def lines(rows: Iterable[Row]) -> list[str]:
    """The rows as a table of columns, the long and free words last."""
    cells = [("upstream", "state", "open", "lines", "evidence", "title"), *map(_cells, rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(5)]
    return ["  ".join([*(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=False)), row[5]]) for row in cells]


def _cells(row: Row) -> tuple[str, str, str, str, str, str]:
    proof = (row.evidence or "none") + (f" ({row.stale} stale)" if row.stale else "")
    place = f"  (on {row.branch})" if row.branch else ""
    return (row.ref, row.state, str(row.waiting), f"+{row.added} -{row.removed}", proof, row.subject + place)


def state(ledger: Ledger, today: date) -> str:
    """What a ledger needs, in a word."""
    if ledger.reverted_by and set(ledger.counts) == {"reverted"}:
        return "reverted"
    if "conflict" in ledger.counts:
        return "conflicts"
    if waiting(ledger, today):
        return "open"
    return "present" if set(ledger.counts) == {"present"} else "done"


def _row(ledger: Ledger, today: date, tree: str | None, branch: str | None) -> Row:
    old = stale(ledger, tree) if tree else ()
    levels = [LEVELS.index(e.level) for e in ledger.verification.evidence if e not in old and not e.warnings]
    origin = ledger.upstream
    return Row(
        ref=origin.ref,
        subject=plain(references(origin.title, origin.repo)),
        date=origin.date[:10],
        state=state(ledger, today),
        entries=ledger.counts,
        added=ledger.added,
        removed=ledger.removed,
        waiting=len(waiting(ledger, today)),
        offered=len(offered(ledger)),
        evidence=LEVELS[max(levels)] if levels else None,
        stale=len(old),
        branch=branch,
    )
