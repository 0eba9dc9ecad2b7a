"""What became of a change upstream: its reverts, the fixes of its lines, other changes to them."""

from collections.abc import Iterable, Mapping, Sequence

from sync_tools.plan.lines import Reached, changed_by
from sync_tools.plan.model import Change, Later, LaterKind, Place
from sync_tools.plan.prerequisites import Text
from sync_tools.plan.relations import is_fix, undone
from sync_tools.upstream.history import Message
from sync_tools.upstream.patch import FileDiff

ORDER: tuple[LaterKind, ...] = ("revert", "fix", "change")


def later_changes(
    own: Mapping[str, Iterable[int]],
    texts: Mapping[str, Text],
    commit: str,
    line: Sequence[Message],
    history: Mapping[str, tuple[FileDiff, ...]],
    repo: str,
) -> tuple[Later, ...]:
    """The later commits of `line` (upstream's main line, newest first) that undo `commit` or reach its lines: reverts,
    then fixes, then the rest, each in upstream's order. `own` are the lines it added, from 0, by path."""
    at = next((n for n, m in enumerate(line) if m.commit == commit), 0)
    following = [line[n] for n in range(at - 1, -1, -1)]
    reverts = _reverts(commit, at, line, repo)
    met = {r.commit: r for r in changed_by(own, [(m.commit, history.get(m.commit, ())) for m in following])}
    found = []
    for message in following:
        if message.commit in met or message.commit in reverts:
            kind: LaterKind = "revert" if message.commit in reverts else "fix" if is_fix(message) else "change"
            places = _places(met.get(message.commit), texts)
            lines = sum(len(p.lines) for p in places)
            undoing = reverts.get(message.commit)
            found.append(Later(named(message), kind, places, lines, named(undoing) if undoing else None))
    return tuple(sorted(found, key=lambda each: ORDER.index(each.kind)))


def named(message: Message) -> Change:
    """A commit as plans name it."""
    return Change(message.pr, message.commit, message.subject)


def _reverts(commit: str, at: int, line: Sequence[Message], repo: str) -> dict[str, Message | None]:
    """Commit that reverts -> the one that reverts it in turn."""
    found: dict[str, Message | None] = {}
    for n in range(at - 1, -1, -1):
        if not line[n].subject.startswith("Revert") and "evert" not in line[n].body:
            continue
        for target in undone(line[n], repo, line[n + 1 :]):
            if target == commit:
                found[line[n].commit] = None
            elif target in found:
                found[target] = line[n]
    return found


def _places(reached: Reached | None, texts: Mapping[str, Text]) -> tuple[Place, ...]:
    if reached is None:
        return ()
    return tuple(
        Place(path, tuple(n + 1 for n in on), texts[path].symbol(on[0]) if path in texts else "")
        for path, on in sorted(reached.lines.items())
    )
