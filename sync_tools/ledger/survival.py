"""Whether what a port brought still stands: its lines followed from the commit that wrote the ledger to HEAD."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from sync_tools.config import Config
from sync_tools.ledger.align import Alignment
from sync_tools.ledger.follow import follow
from sync_tools.ledger.judge import overlay_of
from sync_tools.ledger.landing import Landing
from sync_tools.ledger.lines import normal, split
from sync_tools.ledger.model import Entry
from sync_tools.ledger.symbols import Label, labels
from sync_tools.tree import Blob, Tree

STANDING = frozenset({"ported", "translated", "present"})


@dataclass(frozen=True)
class Version:
    """A file of the fork at one commit."""

    path: str
    blob: Blob

    @cached_property
    def lines(self) -> list[bytes]:
        return [normal(line) for line in split(self.blob.data)]

    @cached_property
    def labels(self) -> tuple[Label, ...]:
        return labels(self.path, self.blob.data)


@dataclass(frozen=True)
class Step:
    """From one tree to the next; `port` is the later port that made it, None for what other commits did."""

    old: Tree
    new: Tree
    port: Landing | None = None


def lost(landing: Landing, others: Sequence[Landing], head: Tree, config: Config) -> Iterator[tuple[Entry, list[int]]]:
    """The entries that claim lines of the fork which are gone or changed since, and those lines (0-based, as written).

    A later port accounts for what it changes in a file that its own ledger speaks of, an overlay for its path.
    """
    later = [other for other in others if other.port_at > landing.written_at]
    steps = list(_steps(landing, sorted(later, key=lambda x: x.port_at), head))
    for path, entries in _claims(landing.ledger.entries).items():
        gone = set() if overlay_of(config, path) else _gone(path, steps)
        for e in entries:
            missing = [i for i in _span(e) if gone is None or i in gone]
            if missing:
                yield e, missing


def _claims(entries: Iterable[Entry]) -> dict[str, list[Entry]]:
    claims: dict[str, list[Entry]] = {}
    for e in entries:
        if e.op in STANDING and e.downstream.lines and e.downstream.lines.count:
            claims.setdefault(e.downstream.path, []).append(e)
    return claims


def _span(e: Entry) -> range:
    return e.downstream.lines.lines if e.downstream.lines else range(0)


def _steps(landing: Landing, later: Sequence[Landing], head: Tree) -> Iterator[Step]:
    at = landing.written
    for port in later:
        after = port.ported or port.written
        yield Step(at, port.before or at)
        yield Step(port.before or at, after, port)
        at = after
    yield Step(at, head)


def _gone(path: str, steps: Sequence[Step]) -> set[int] | None:
    """The lines of the file at the first step that vanished unaccounted for; None when the whole file did."""
    first = steps[0].old.blob(path)
    if first is None:
        return set()  # what was never there is a problem of its own
    version, gone = Version(path, first), set()
    here = {i: i for i, line in enumerate(version.lines) if line}
    for step in steps:
        moved = step.port.moves.get(version.path, version.path) if step.port else version.path
        accounted = step.port is not None and not step.port.paths.isdisjoint((version.path, moved))
        blob = step.new.blob(moved)
        if blob is None:
            return set() if accounted else None
        if blob.data == version.blob.data:
            version = Version(moved, blob)
            continue
        following = Version(moved, blob)
        found = _followed(version, following)
        if not accounted:
            gone |= {first for first, now in here.items() if not found.same[now]}
        here = {first: found.low[now] for first, now in here.items() if found.same[now]}
        version = following
    return gone


@lru_cache(maxsize=4096)  # every earlier port's lines pass through the same steps
def _followed(version: Version, following: Version) -> Alignment:
    return follow(version, following)
