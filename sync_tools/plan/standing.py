"""Which of upstream's changes a fork has, by what its history knows."""

from dataclasses import dataclass
from functools import cached_property

from sync_tools.config import Config
from sync_tools.gitio import GitFailed, Repo
from sync_tools.plan.model import State
from sync_tools.port.known import Known, known
from sync_tools.upstream.history import Message

SEARCHED = 100
"""How many commits before a change are searched where nothing says where the fork begins: older ones are presumably in it."""


@dataclass(frozen=True)
class Standing:
    """`line` is upstream's main line, newest first; `cutoff` the commit on it that the fork begins with, if known."""

    line: tuple[Message, ...]
    known: Known
    cutoff: str | None

    @cached_property
    def position(self) -> dict[str, int]:
        """How far each commit of the main line is from its tip."""
        return {message.commit: at for at, message in enumerate(self.line)}

    @cached_property
    def _newest(self) -> dict[int, str]:
        """The commit that a number means: the newest that carries it."""
        return {m.pr: m.commit for m in reversed(self.line) if m.pr is not None}

    def state(self, pr: int | None, commit: str) -> State:
        """Whether the fork has a landing."""
        meant = pr if pr is not None and self._newest.get(pr, commit) == commit else None
        if self.known.has(meant, commit):
            return "landed"
        if self.cutoff is None:
            return "unknown"
        here = self.position.get(commit)
        return "landed" if here is not None and here >= self.position[self.cutoff] else "missing"

    def floor(self, commit: str) -> str | None:
        """The commit after which the search for what a change stands on begins; None: at the very first."""
        at = self.position[commit] + SEARCHED
        if self.cutoff is not None:
            at = max(at, self.position[self.cutoff])
        return self.line[at].commit if at < len(self.line) else None


def standing(fork: Repo, base: str, config: Config, upstream: Repo, line: list[Message]) -> Standing:
    """What commit `base` of the fork has of upstream's main line."""
    told = known(fork, base, config)
    cutoff = upstream.commit_of(told.cutoff) if told.cutoff else None
    if cutoff and line and all(m.commit != cutoff for m in line):
        cutoff = line[0].commit if _holds(upstream, cutoff, line[0].commit) else None
    return Standing(tuple(line), told, cutoff)


def _holds(upstream: Repo, commit: str, earlier: str) -> bool:
    """Whether one commit comes after another: a line that ends before the fork's beginning is in the fork as a whole."""
    try:
        upstream.run("merge-base", "--is-ancestor", earlier, commit)
    except GitFailed:
        return False
    return True
