"""Upstream's history as ledgers ask for it; what was read once is not read again."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sync_tools.gitio import Repo
from sync_tools.ledger.model import Ledger
from sync_tools.upstream.changeset import ChangeSet
from sync_tools.upstream.collect import collect
from sync_tools.upstream.resolve import Landing, first_parents, number_of, tips

KEPT = 16


@dataclass(frozen=True)
class History:
    """Of one upstream, for one run."""

    upstream: Repo
    _numbers: dict[str, dict[int, list[str]]] = field(default_factory=dict, repr=False)
    _changes: dict[str, ChangeSet] = field(default_factory=dict, repr=False)

    def before(self, commit: str) -> Sequence[tuple[str, str]]:
        """(commit, subject) of the main line before a commit, newest first."""
        return first_parents(self.upstream, commit)[1:]

    def changes(self, ledger: Ledger) -> ChangeSet | None:
        """The change that a ledger accounts for, read again; None where upstream does not have its commit."""
        commit = ledger.upstream.commit
        if commit not in self._changes:
            if self.upstream.commit_of(commit) is None:
                return None
            while len(self._changes) >= KEPT:
                del self._changes[next(iter(self._changes))]
            self._changes[commit] = collect(self.upstream, self._landed(ledger))
        return self._changes[commit]

    def _landed(self, ledger: Ledger) -> Landing:
        """The landing that the ledger's commit is, as upstream says."""
        pr, commit = ledger.upstream.pr, ledger.upstream.commit
        if pr is None or number_of(self.upstream.line("log", "-1", "--format=%s", commit)) != pr:
            return Landing(None, commit)
        carrying = next(filter(None, (self._numbered(tip).get(pr) for tip in tips(self.upstream))), [])
        return Landing(pr, commit, tuple(carrying[1:]) if carrying[:1] == [commit] else ())

    def _numbered(self, tip: str) -> dict[int, list[str]]:
        """Number -> the commits of the main line that carry it, newest first."""
        if tip not in self._numbers:
            found: dict[int, list[str]] = {}
            for commit, subject in first_parents(self.upstream, tip):
                if number := number_of(subject):
                    found.setdefault(number, []).append(commit)
            self._numbers[tip] = found
        return self._numbers[tip]
