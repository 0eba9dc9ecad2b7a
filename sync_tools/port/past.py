"""Upstream's history as ledgers ask for it; what was read once is not read again."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from sync_tools.gitio import Repo
from sync_tools.ledger.model import Ledger
from sync_tools.upstream.changeset import ChangeSet
from sync_tools.upstream.collect import collect
from sync_tools.upstream.resolve import Landing, first_parents, number_of, tips

KEPT = 256


@dataclass(frozen=True)
class History:
    """Of one upstream, for one run."""

    upstream: Repo
    _changes: dict[str, ChangeSet] = field(default_factory=dict, repr=False)

    def before(self, commit: str) -> Sequence[tuple[str, str]]:
        """(commit, subject) of the main line before a commit, newest first."""
        return first_parents(self.upstream, commit)[1:]

    def changes(self, ledger: Ledger) -> ChangeSet | None:
        """The change that a ledger accounts for, read again; None where upstream does not have its commit."""
        commit = ledger.upstream.commit
        if commit not in self._changes:
            if self._subject(commit) is None:
                return None
            while len(self._changes) >= KEPT:
                del self._changes[next(iter(self._changes))]
            self._changes[commit] = collect(self.upstream, self._landed(ledger))
        return self._changes[commit]

    def _landed(self, ledger: Ledger) -> Landing:
        """The landing that the ledger's commit is, as upstream says."""
        pr, commit = ledger.upstream.pr, ledger.upstream.commit
        if pr is None or number_of(self._subject(commit) or "") != pr:
            return Landing(None, commit)
        carrying = next((numbered[pr] for _, numbered in self._main_lines if pr in numbered), [])
        return Landing(pr, commit, tuple(carrying[1:]) if carrying[:1] == [commit] else ())

    def _subject(self, commit: str) -> str | None:
        """The subject of a commit, None where upstream does not have it."""
        known = next((subjects[commit] for subjects, _ in self._main_lines if commit in subjects), None)
        if known is not None or self.upstream.commit_of(commit) is None:
            return known
        return self.upstream.line("log", "-1", "--format=%s", commit)

    @cached_property
    def _main_lines(self) -> list[tuple[dict[str, str], dict[int, list[str]]]]:
        """Of each revision that may be upstream's main line: commit -> subject, and number -> the commits that carry it,
        newest first."""
        found = []
        for tip in tips(self.upstream):
            line, numbered = first_parents(self.upstream, tip), dict[int, list[str]]()
            for commit, subject in line:
                if (number := number_of(subject)) is not None:
                    numbered.setdefault(number, []).append(commit)
            found.append((dict(line), numbered))
        return found
