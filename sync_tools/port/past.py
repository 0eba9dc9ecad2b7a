"""The changes that ledgers account for, read from upstream again; what was read once is not read again."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sync_tools.ledger.model import Ledger
from sync_tools.upstream.changeset import ChangeSet
from sync_tools.upstream.collect import collect
from sync_tools.upstream.mainline import MainLine

KEPT = 256


@dataclass(frozen=True)
class History:
    """Of one upstream, for one run."""

    line: MainLine
    _changes: dict[str, ChangeSet] = field(default_factory=dict, repr=False)

    def before(self, commit: str) -> Sequence[tuple[str, str]]:
        """(commit, subject) of the main line before a commit, newest first."""
        return self.line.before(commit)

    def changes(self, ledger: Ledger) -> ChangeSet | None:
        """The change that a ledger accounts for; None where upstream does not have its commit."""
        commit = ledger.upstream.commit
        if commit not in self._changes:
            landing = self.line.landing(ledger.upstream.pr, commit)
            if landing is None:
                return None
            while len(self._changes) >= KEPT:
                del self._changes[next(iter(self._changes))]
            self._changes[commit] = collect(self.line.repo, landing)
        return self._changes[commit]
