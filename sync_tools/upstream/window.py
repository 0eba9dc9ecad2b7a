"""A window of upstream's history: the first-parent commits after a cutoff, up to a tip."""

from collections import Counter
from dataclasses import dataclass

from sync_tools.errors import SyncError
from sync_tools.gitio import Repo
from sync_tools.upstream.resolve import Landing, first_parents, number_of


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
    history = first_parents(repo, last, first)
    if first != last and (not history or not _follows(repo, history[-1][0], first)):
        raise SyncError(
            "the cutoff is not on the main line that leads to the tip",
            f"{cutoff}..{tip}",
            "name two commits of upstream's main line, the older one as the cutoff",
        )
    return Window(first, last, _landings(history))


def _follows(repo: Repo, commit: str, parent: str) -> bool:
    return repo.commit_of(f"{commit}^1") == parent


def _landings(history: list[tuple[str, str]]) -> tuple[Landing, ...]:
    """From (commit, subject), newest first."""
    numbers = [number_of(subject) for _, subject in history]
    repeated = {n for n, count in Counter(numbers).items() if n is not None and count > 1}
    seen: set[int] = set()
    found = []
    for (commit, _), number in zip(history, numbers, strict=True):
        if number in seen:
            found.append(Landing(None, commit))
            continue
        others = tuple(c for (c, _), n in zip(history, numbers, strict=True) if n == number and c != commit)
        found.append(Landing(number, commit, others if number in repeated else ()))
        seen |= {number} if number is not None else set()
    return tuple(reversed(found))
