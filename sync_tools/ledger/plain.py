"""What holds of a ledger by whatever rules it was made: upstream's lines are all accounted for, the fork's lines are those
that it names and still stand, decisions and reverts are in order. Operations are not derived."""

from collections import Counter
from collections.abc import Iterator, Sequence

from sync_tools.config import Config
from sync_tools.ledger.account import storable
from sync_tools.ledger.check import REASONED, STANDS, Found, header, pairs, still_there
from sync_tools.ledger.landing import Landing
from sync_tools.ledger.lines import digest, normal, split, unit_digest, unit_id
from sync_tools.ledger.model import Entry, Ledger
from sync_tools.ledger.reverts import Past
from sync_tools.tree import Tree
from sync_tools.upstream.changeset import ChangeSet, FileChange, Image


def plainly(
    landing: Landing, changes: ChangeSet, config: Config, head: Tree, others: Sequence[Landing], past: Past
) -> Iterator[Found]:
    """What is wrong with a ledger that other rules made."""
    ledger = landing.ledger
    yield from header(ledger, changes, config)
    yield from _partition(ledger, changes)
    for e in ledger.entries:
        yield from ((e.id, what) for what in _entry(e, ledger))
        if not _there(e, landing):
            yield e.id, f"the fork's lines at {e.downstream.path} {e.downstream.lines} are not those that it names"
    yield from pairs(landing, changes, config, others, past)
    yield from still_there(landing, others, head, config)


def _entry(e: Entry, ledger: Ledger) -> Iterator[str]:
    if e.op == "conflict":
        yield "still in conflict: a person must decide, then the port is continued"
    if e.op in REASONED and not e.reason.strip():
        yield f"gives no reason for {e.op}"
    decided = any(d.applied and (d.entry, d.op) == (e.id, e.op) for d in ledger.decisions)
    if (e.state == "decided") != decided and e.op != "reverted":
        yield f"says {e.state}, and its decisions say otherwise"


def _there(e: Entry, landing: Landing) -> bool:
    """Whether the fork's lines had the entry's digest when they were written."""
    if e.op not in STANDS or e.downstream.lines is None:
        return True
    blob, span = landing.written.blob(e.downstream.path), e.downstream.lines.lines
    lines = split(blob.data)[span.start : span.stop] if blob else []
    return len(lines) == len(span) and digest(map(normal, lines)) == e.downstream.digest


def _partition(ledger: Ledger, changes: ChangeSet) -> Iterator[Found]:
    told: dict[str, list[Entry]] = {}
    for e in ledger.entries:
        told.setdefault(e.upstream.name, []).append(e)
    for change in changes.files:
        entries = told.pop(storable(change.path), [])
        if not entries:
            yield None, f"{change.path} has no entry"
        yield from _of_file(entries, change, changes.commit)
    for path, entries in told.items():
        yield entries[0].id, f"upstream's change does not touch {path}"


def _of_file(entries: Sequence[Entry], change: FileChange, commit: str) -> Iterator[Found]:
    """Each line of the diff in one entry, each entry with the digest and the id of its lines."""
    old, new = _lines(change.before), _lines(change.after)
    for side, wanted, told in (
        ("removed", [h.old for h in change.hunks], [e.upstream.old.lines for e in entries]),
        ("added", [h.new for h in change.hunks], [e.upstream.new.lines for e in entries]),
    ):
        lines, accounted = Counter(i for r in wanted for i in r), Counter(i for r in told for i in r)
        if lines != accounted:
            at = min((lines - accounted) + (accounted - lines)) + 1
            yield None, f"{change.path}: the {side} lines are not each in one entry, first {at}"
    seen: Counter[str] = Counter()
    paths = [image.path if image else "" for image in (change.before, change.after)]
    for e in sorted(entries, key=lambda e: (e.upstream.new.start, e.upstream.old.start)):
        removed, added = (_cut(lines, span.lines) for lines, span in ((old, e.upstream.old), (new, e.upstream.new)))
        content = unit_digest(removed, added)
        if (e.removed, e.added, e.upstream.digest) != (len(removed), len(added), content):
            yield e.id, "upstream's lines are not those that it names"
        ids = {unit_id(commit, *paths, content, nth) for nth in range(len(entries))}
        if e.id not in ids:
            yield e.id, "no unit of upstream's change has this id"
        seen[e.id] += 1
        if seen[e.id] > 1:
            yield e.id, "stands twice in the ledger"


def _lines(image: Image | None) -> list[bytes]:
    return split(image.data) if image else []


def _cut(lines: list[bytes], span: range) -> list[bytes]:
    return lines[span.start : span.stop]
