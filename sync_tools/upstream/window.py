"""A window of upstream's history: the first-parent commits after a cutoff, up to a tip."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sync_tools.errors import SyncError
from sync_tools.gitio import Repo
from sync_tools.upstream.history import Message, messages, span
from sync_tools.upstream.resolve import Landing


@dataclass(frozen=True)
class Window:
    """`landings` are oldest first. Of several that carry one number the last has it; the earlier ones are bare commits."""

    cutoff: str
    tip: str
    landings: tuple[Landing, ...]


def window(repo: Repo, cutoff: str, tip: str) -> Window:
    """The commits of `cutoff..tip`. Raises SyncError where a revision is unknown, or the cutoff is not on the tip's main line."""
    ends = []
    for option, rev in (("--cutoff", cutoff), ("--tip", tip)):
        commit = repo.commit_of(rev)
        if commit is None:
            raise SyncError(
                "no such commit in upstream", f"{option} {rev}", "name a commit of upstream, or fetch again"
            )
        ends.append(commit)
    first, last = ends
    history = messages(repo, span(first, last))
    if first != last and (not history or not _follows(repo, history[-1].commit, first)):
        raise SyncError(
            "the cutoff is not on the main line that leads to the tip",
            f"{cutoff}..{tip}",
            "name two commits of upstream's main line, the older one as the cutoff",
        )
    return Window(first, last, _landings(history))


def _follows(repo: Repo, commit: str, parent: str) -> bool:
    return repo.commit_of(f"{commit}^1") == parent


def _landings(history: Sequence[Message]) -> tuple[Landing, ...]:
    """From the commits, newest first."""
    carrying: dict[int, list[str]] = {}
    for message in history:
        if message.pr is not None:
            carrying.setdefault(message.pr, []).append(message.commit)
    return tuple(_landing(message, carrying) for message in reversed(history))


def _landing(message: Message, carrying: Mapping[int, Sequence[str]]) -> Landing:
    if message.pr is None or carrying[message.pr][0] != message.commit:
        return Landing(None, message.commit)
    return Landing(message.pr, message.commit, tuple(carrying[message.pr][1:]))
