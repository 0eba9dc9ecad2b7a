"""Changes that belong with one: those that its message names, those that name it, and what its author did beside it."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from sync_tools.plan.later import named
from sync_tools.plan.model import Change, Companion
from sync_tools.plan.relations import mentions
from sync_tools.plan.risks import kind_of
from sync_tools.upstream.history import Message
from sync_tools.upstream.patch import FileDiff

BESIDE, FEW = 10, 5
"""How far on the main line an author's other changes count as made beside one, and how many are listed."""


def by_mention(change: Change, line: Sequence[Message], repo: str) -> tuple[Companion, ...]:
    """What a change's message names, then who names it later; `line` is the main line, newest first."""
    at = next((n for n, m in enumerate(line) if m.commit == change.commit), None)
    if at is None:
        return ()
    landed = {m.pr: m for m in reversed(line) if m.pr is not None}
    found = []
    for number in mentions(line[at], repo):
        known = landed.get(number)
        other = named(known) if known else Change(number, "", "")
        found.append(
            Companion(other, "its message names it" if known else "its message names it; not on the main line")
        )
    for message in reversed(line[:at]):
        if change.pr is not None and change.pr in mentions(message, repo):
            found.append(Companion(named(message), "names this one in its message"))
    return tuple(found)


def by_file(
    change: Change,
    files: Collection[str],
    line: Sequence[Message],
    touched: Mapping[str, Sequence[FileDiff]],
    told: Collection[str],
) -> tuple[Companion, ...]:
    """What the same author landed beside a change, the nearest first, where at least half of what one of the two touches
    is touched by both; CI's files say nothing. Commits of `told` are named elsewhere already."""
    at = next((n for n, m in enumerate(line) if m.commit == change.commit), None)
    if at is None:
        return ()
    ours = _telling(files)
    near = sorted(range(max(0, at - BESIDE), min(len(line), at + BESIDE + 1)), key=lambda n: abs(n - at))
    found = []
    for message in (line[n] for n in near if n != at and line[n].author == line[at].author):
        theirs = _telling(p for f in touched.get(message.commit, ()) for p in (f.old, f.new) if p)
        shared = sorted(ours & theirs)
        if shared and 2 * len(shared) >= min(len(ours), len(theirs)) and message.commit not in told:
            found.append(Companion(named(message), f"by the same author, beside it, on {shared[0]}"))
    return tuple(found[:FEW])


def _telling(paths: Iterable[str]) -> set[str]:
    return {path for path in paths if kind_of(path) not in ("ci", "other")}
