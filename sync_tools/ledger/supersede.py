"""Entries whose lines a later upstream change, named, replaced."""

from sync_tools.ledger.model import Entry

STANDING = frozenset({"ported", "translated", "present"})
WAITING = frozenset({"absent", "deferred", "diverged"})


def superseded(e: Entry, by: str) -> Entry:
    """The entry, told as replaced by the change `by` (owner/name#N). What was dropped, generated, undone or decided stays
    what it is."""
    if not (e.op in STANDING or (e.op in WAITING and e.state == "open")) or e.state == "decided":
        return e
    return e.model_copy(
        update={
            "op": "superseded",
            "state": "settled",
            "reason": f"replaced by {by}",
            "who": "",
            "until": None,
            "link": by,
        }
    )
