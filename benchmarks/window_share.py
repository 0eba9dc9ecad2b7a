"""How much of a window waits for a person: the lines of upstream's diffs by what became of them, over all ledgers of a fork.

    python benchmarks/window_share.py --repo FORK [--rev BRANCH] [--json]

FORK is a repository in which a window was ported: one that `sync replay` left, or a fork with its ledgers. `waiting` is the
share of lines in `deferred` and `conflict` entries, `of_limit` its ratio to the most that may wait.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from sync_tools.commands.options import settings
from sync_tools.ledger.model import Entry, Ledger
from sync_tools.ledger.store import read_all

WAITING, LIMIT, LONGEST = ("deferred", "conflict"), 0.02, 20


@dataclass(frozen=True)
class Row:
    """The entries of one operation."""

    op: str
    entries: int
    added: int
    removed: int
    share: float


@dataclass(frozen=True)
class Place:
    """Lines that wait: of which change, in which file, and for what."""

    ledger: str
    path: str
    op: str
    lines: int
    reason: str


@dataclass(frozen=True)
class Share:
    ledgers: int
    lines: int
    waiting: float
    of_limit: float
    operations: tuple[Row, ...]
    longest: tuple[Place, ...]


def share(ledgers: Iterable[Ledger]) -> Share:
    """The lines of all entries, by operation, and the places where most of the waiting ones stand."""
    found = [(ledger, entry) for ledger in ledgers for entry in ledger.entries]
    total = sum(_lines(entry) for _, entry in found)
    rows = tuple(_row(op, [e for _, e in found if e.op == op], total) for op in sorted({e.op for _, e in found}))
    waiting = sum(_lines(e) for _, e in found if e.op in WAITING) / total if total else 0.0
    longest: Counter[tuple[str, str, str, str]] = Counter()
    for ledger, entry in found:
        if entry.op in WAITING:
            longest[ledger.upstream.stem, entry.upstream.name, entry.op, entry.reason] += _lines(entry)
    places = tuple(Place(stem, path, op, n, why) for (stem, path, op, why), n in longest.most_common(LONGEST))
    ratio = round(waiting / LIMIT, 2)
    return Share(len({ledger.upstream.stem for ledger, _ in found}), total, round(waiting, 5), ratio, rows, places)


def _row(op: str, entries: list[Entry], total: int) -> Row:
    added, removed = sum(e.added for e in entries), sum(e.removed for e in entries)
    return Row(op, len(entries), added, removed, round((added + removed) / total, 5) if total else 0.0)


def _lines(entry: Entry) -> int:
    return entry.added + entry.removed


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--repo", required=True, type=Path, help="a fork with ledgers")
    options.add_argument("--rev", default="HEAD", help="the branch or commit that holds them")
    options.add_argument("--json", action="store_true")
    args = options.parse_args()
    fork = settings(None, args.repo, None, args.json)
    found = share(read_all(fork.repo.tree(args.rev), fork.config))
    if args.json:
        print(json.dumps({"schema": 1, **asdict(found)}))
        return 0
    print(f"{'operation':<12}{'entries':>10}{'added':>10}{'removed':>10}{'share':>10}")
    for row in found.operations:
        print(f"{row.op:<12}{row.entries:>10}{row.added:>10}{row.removed:>10}{row.share:>10.2%}")
    print(f"{found.ledgers} ledgers, {found.lines} lines; waiting {found.waiting:.2%}, {found.of_limit} of the limit")
    for place in found.longest:
        print(f"{place.lines:>6} {place.op} {place.ledger} {place.path}: {place.reason}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
