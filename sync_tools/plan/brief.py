"""The briefing of a change: what it stands on and what became of it, read from upstream's history."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sync_tools.config import Config
from sync_tools.gitio import Repo
from sync_tools.plan.companions import BESIDE
from sync_tools.plan.later import later_changes, named
from sync_tools.plan.model import Briefing, Change, Need, Prerequisite, State
from sync_tools.plan.prerequisites import Text, merged, needs, strongest, uses
from sync_tools.plan.standing import SEARCHED, Standing
from sync_tools.plan.uses import used
from sync_tools.policy import policy_for
from sync_tools.upstream.changeset import ChangeSet
from sync_tools.upstream.history import Diffs, Message, all_names, diffs, names, span
from sync_tools.upstream.patch import FileDiff

LINES = ("edits", "beside")
"""What is told of a change that landed: who made a file, or a name, matters only where it is missing."""

STATES: tuple[State, ...] = ("missing", "unknown", "landed")


@dataclass(frozen=True)
class Reader:
    """Upstream's history as briefings need it. `line` is its main line up to the tip, newest first; `whole` are the diffs
    of all that is asked for, where many briefings are made; without them each reads those of its own paths."""

    upstream: Repo
    config: Config
    standing: Standing
    whole: Diffs = field(default_factory=dict)

    @property
    def line(self) -> tuple[Message, ...]:
        return self.standing.line

    def diffs(self, floor: str | None, last: str, paths: Collection[str]) -> Diffs:
        """The diffs of a stretch of the main line, at least of `paths` under all their names."""
        if self.whole or not paths:
            return self.whole
        commits = span(floor, last)
        moves = [file for files in names(self.upstream, commits).values() for file in files]
        return diffs(self.upstream, commits, sorted(all_names(paths, moves)))

    def beside(self, commit: str) -> Diffs:
        """The paths that the commits around one on the main line touch."""
        at = self.standing.position.get(commit)
        if at is None:
            return {}
        if self.whole:
            return self.whole
        newest, oldest = self.line[max(0, at - BESIDE)], self.line[min(len(self.line) - 1, at + BESIDE)]
        return names(self.upstream, f"{oldest.commit}..{newest.commit}")

    def passed_over(self, path: str) -> bool:
        """What no port carries line by line: a path that policy drops, and the workflow that is rendered from a template,
        one long line that every change of the matrix rewrites."""
        policy = policy_for(self.config, path)
        return path == self.config.ci.workflow or (policy is not None and policy.action == "skip")


def brief(changes: ChangeSet, reader: Reader, deep: bool = True) -> Briefing:
    """What a change on the main line stands on, and what became of it up to the tip. `deep`: by what it imports too, and
    with what the missing ones need in turn."""
    standing, line = reader.standing, reader.line
    at = standing.position.get(changes.commit)
    change = Change(changes.pr, changes.commit, changes.subject)
    state = standing.state(changes.pr, changes.commit)
    if at is None:
        return Briefing(change, state, (), ())
    files = [f for f in changes.files if not reader.passed_over(f.path)]
    imported = used(changes, reader.upstream.tree(changes.parent)) if deep else {}
    floor = standing.floor(changes.commit)
    paths = [*(i.path for f in files for i in (f.before, f.after) if i), *imported]
    history = reader.diffs(floor, line[0].commit, paths)
    earlier = before(line, at, floor, history)
    direct = needs(files, earlier, {f.before.path: Text(f.before.path, f.before.data) for f in files if f.before})
    found = as_prerequisites(merged(direct, uses(imported, earlier)), standing)
    found += _transitive(found, reader, floor) if deep else []
    own = {f.after.path: [n for h in f.hunks for n in h.new] for f in files if f.after and f.hunks}
    texts = {f.after.path: Text(f.after.path, f.after.data) for f in files if f.after}
    later = later_changes(own, texts, changes.commit, line, history, reader.config.upstream.repo)
    return Briefing(change, state, tuple(found), later, SEARCHED if standing.cutoff is None else None)


def before(
    line: Sequence[Message], at: int, floor: str | None, history: Diffs
) -> list[tuple[str, tuple[FileDiff, ...]]]:
    """The diffs of the commits before one, newest first, down to the floor."""
    found = []
    for message in line[at + 1 :]:
        if message.commit == floor:
            break
        if message.commit in history:
            found.append((message.commit, history[message.commit]))
    return found


def as_prerequisites(
    found: Mapping[str, Sequence[Need]], standing: Standing, through: Change | None = None
) -> list[Prerequisite]:
    """What is missing first; in that, what is edited before what is beside; else upstream's order, newest last."""
    made = []
    for commit, why in found.items():
        message = standing.line[standing.position[commit]]
        state = standing.state(message.pr, commit)
        told = [n for n in why if state != "landed" or n.relation in LINES]
        if told:
            made.append(Prerequisite(named(message), state, tuple(told), through))
    return sorted(
        made,
        key=lambda p: (STATES.index(p.state), strongest(p.needs), -standing.position[p.change.commit]),
    )


def _transitive(direct: Iterable[Prerequisite], reader: Reader, floor: str | None) -> list[Prerequisite]:
    """What the missing ones edit, in turn, of what is missing too. Neighbours are let go: by them everything would hang
    together."""
    standing, line = reader.standing, reader.line
    queue = [p.change for p in direct if p.state == "missing"]
    seen = {p.commit for p in queue}
    if not queue:
        return []
    newest = line[min(standing.position[c.commit] for c in queue)].commit
    history = reader.whole or diffs(reader.upstream, span(floor, newest))
    found = []
    for change in queue:
        files = [f for f in history.get(change.commit, ()) if not reader.passed_over(f.path)]
        needed = needs(files, before(line, standing.position[change.commit], floor, history), {})
        firm = {commit: tuple(n for n in why if n.relation != "beside") for commit, why in needed.items()}
        for each in as_prerequisites({commit: why for commit, why in firm.items() if why}, standing, change):
            if each.state == "missing" and each.change.commit not in seen:
                seen.add(each.change.commit)
                queue.append(each.change)
                found.append(each)
    return found
