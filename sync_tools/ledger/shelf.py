"""Ledgers in memory over a run of many ports: each is parsed, and told in the index, once."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from sync_tools.ledger import store
from sync_tools.ledger.markdown import Row, index, index_row
from sync_tools.ledger.model import Ledger


@dataclass(frozen=True)
class Shelf:
    """What the bytes of ledger files say. `loads` stands in for `store.loads`."""

    _known: dict[bytes, Ledger] = field(default_factory=dict, repr=False)
    _rows: dict[int, tuple[Ledger, Row]] = field(default_factory=dict, repr=False)

    def loads(self, content: bytes, where: str) -> Ledger:
        """The ledger in a file's bytes. Raises SyncError as `store.loads` does."""
        if content not in self._known:
            self._known[content] = store.loads(content, where)
        return self._known[content]

    def dumps(self, ledger: Ledger) -> bytes:
        """The bytes of a ledger's file, which need not be parsed again."""
        content = store.dumps(ledger).encode()
        self._known[content] = ledger
        return content

    def index(self, ledgers: Iterable[Ledger]) -> str:
        """The text of the index."""
        ordered = store.in_order(ledgers)
        return index(ordered, [self._row(ledger) for ledger in ordered])

    def _row(self, ledger: Ledger) -> Row:
        # By identity: a ledger is large to compare, and the shelf holds it, so that no other takes its place.
        if id(ledger) not in self._rows:
            self._rows[id(ledger)] = ledger, index_row(ledger)
        return self._rows[id(ledger)][1]
