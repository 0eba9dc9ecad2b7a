"""The landings of a window with what each says and changes: two runs of git, however many landings there are."""

from dataclasses import dataclass

from sync_tools.gitio import Repo
from sync_tools.upstream.history import Message, diffs, messages, span
from sync_tools.upstream.patch import FileDiff
from sync_tools.upstream.resolve import Landing
from sync_tools.upstream.window import Window


@dataclass(frozen=True)
class Step:
    """One landing against the one before it."""

    landing: Landing
    message: Message
    changes: tuple[FileDiff, ...]


def steps(repo: Repo, window: Window) -> tuple[Step, ...]:
    """The landings of a window, oldest first."""
    commits = span(window.cutoff, window.tip)
    said, changed = {m.commit: m for m in messages(repo, commits)}, diffs(repo, commits)
    return tuple(Step(x, said[x.commit], changed.get(x.commit, ())) for x in window.landings)
