"""Which commit a ledger's downstream ranges speak of."""

from collections.abc import Sequence

from sync_tools.ledger.model import Ledger, Target


def written_at(versions: Sequence[tuple[str, Ledger | None]]) -> str:
    """The commit at whose tree the ranges of the newest version were taken.

    `versions` are the commits that wrote the ledger file, newest first, with the ledger as each left it (None where it
    cannot be read). Decisions and evidence that were added later leave the ranges where they were.
    """
    newest, places = versions[0][0], _places(versions[0][1])
    for commit, ledger in versions:
        if ledger is None or _places(ledger) != places:
            break
        newest = commit
    return newest


def _places(ledger: Ledger | None) -> dict[str, Target] | None:
    return None if ledger is None else {e.id: e.downstream for e in ledger.entries}
