"""Upstream's main line: where a commit stands on it, and what lies between two states of a file."""

from dataclasses import dataclass, field
from functools import cached_property

from sync_tools.gitio import GitFailed, Repo
from sync_tools.upstream.changeset import Hunk
from sync_tools.upstream.collect import hunks_between
from sync_tools.upstream.resolve import first_parents, tips

State = tuple[str, str]


@dataclass(frozen=True)
class MainLine:
    """What is asked of git is asked once."""

    repo: Repo
    _known: dict[tuple[State, State], tuple[Hunk, ...] | None] = field(default_factory=dict, repr=False)

    def position(self, commit: str) -> int | None:
        """Its place on the main line, oldest first; None for a commit beside it."""
        return self._positions.get(commit)

    @cached_property
    def _positions(self) -> dict[str, int]:
        for tip in tips(self.repo):
            history = first_parents(self.repo, tip)
            return {commit: len(history) - n for n, (commit, _) in enumerate(history)}
        return {}

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
