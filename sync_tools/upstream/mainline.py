"""Upstream's main line as ledgers ask for it: where a commit stands, what carries a number, what lies between two states of
a file. What is asked of git is asked once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from sync_tools.gitio import GitFailed, Repo
from sync_tools.upstream.changeset import Hunk
from sync_tools.upstream.collect import hunks_between
from sync_tools.upstream.history import Message, messages, number_of
from sync_tools.upstream.resolve import Landing, tips

State = tuple[str, str]


@dataclass(frozen=True)
class MainLine:
    """Of one upstream, for one run."""

    repo: Repo
    _known: dict[tuple[State, State], tuple[Hunk, ...] | None] = field(default_factory=dict, repr=False)

    def position(self, commit: str) -> int | None:
        """Its place on the main line, oldest first; None for a commit beside it."""
        return self._positions.get(commit)

    def before(self, commit: str) -> Sequence[tuple[str, str]]:
        """(commit, subject) of the main line before a commit, newest first."""
        line = next((line for line in self._lines if commit in line), None)
        if line is None:
            return [(m.commit, m.subject) for m in messages(self.repo, commit)[1:]]
        commits = list(line)
        return [(each, line[each].subject) for each in commits[commits.index(commit) + 1 :]]

    def landing(self, pr: int | None, commit: str) -> Landing | None:
        """A commit that says to land a pull request, as upstream says; None where upstream does not have it."""
        subject = self._subject(commit)
        if subject is None:
            return None
        if pr is None or number_of(subject) != pr:
            return Landing(None, commit)
        numbered = ([m.commit for m in line.values() if m.pr == pr] for line in self._lines)
        carrying = next(filter(None, numbered), [])
        return Landing(pr, commit, tuple(carrying[1:]) if carrying[:1] == [commit] else ())

    def between(self, old: str, old_path: str, new: str, new_path: str) -> tuple[Hunk, ...] | None:
        """The hunks between a file at one commit and at another; None where one of them is not there."""
        key = ((old, old_path), (new, new_path))
        if key not in self._known:
            self._known[key] = self._between(*key)
        return self._known[key]

    def _between(self, old: State, new: State) -> tuple[Hunk, ...] | None:
        try:
            said = self.repo.line("rev-parse", "--end-of-options", *(f"{commit}:{path}" for commit, path in (old, new)))
        except GitFailed:
            return None
        first, second = said.split("\n")[-2:]
        return () if first == second else hunks_between(self.repo, first, second)

    def _subject(self, commit: str) -> str | None:
        known = next((line[commit].subject for line in self._lines if commit in line), None)
        if known is not None or self.repo.commit_of(commit) is None:
            return known
        return self.repo.line("log", "-1", "--format=%s", commit)

    @cached_property
    def _lines(self) -> list[Mapping[str, Message]]:
        """Of each revision that may be upstream's main line: its commits, newest first."""
        return [{m.commit: m for m in messages(self.repo, tip)} for tip in tips(self.repo)]

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {commit: -n for n, commit in enumerate(self._lines[0])} if self._lines else {}
