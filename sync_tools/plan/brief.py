"""The briefing of a change: what it stands on and what became of it, read from upstream's history."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sync_tools.config import Config
from sync_tools.gitio import Repo
from sync_tools.ledger.lines import split
from sync_tools.ledger.symbols import labels
from sync_tools.plan.companions import BESIDE
from sync_tools.plan.later import later_changes, named
from sync_tools.plan.model import Briefing, Change, Prerequisite, State
from sync_tools.plan.prerequisites import Base, needs, strongest
from sync_tools.plan.standing import SEARCHED, Standing
from sync_tools.upstream.changeset import ChangeSet, FileChange
from sync_tools.upstream.history import Diffs, FileDiff, Message, all_names, diffs, names

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
        if self.whole:
            return self.whole
        span = f"{floor}..{last}" if floor else last
        moves = [file for files in names(self.upstream, span).values() for file in files]
        return diffs(self.upstream, span, sorted(all_names(paths, moves)))

    def beside(self, commit: str) -> Diffs:
        """The paths that the commits around one on the main line touch."""
        at = self.standing.position.get(commit)
        if at is None:
            return {}
        if self.whole:
            return self.whole
        newest, oldest = self.line[max(0, at - BESIDE)], self.line[min(len(self.line) - 1, at + BESIDE)]
        return names(self.upstream, f"{oldest.commit}..{newest.commit}")

    def generated(self, path: str) -> bool:
        """The workflow that is rendered from a template: one long line that every change of the matrix rewrites."""
        return path == self.config.ci.workflow


def brief(changes: ChangeSet, reader: Reader, transitive: bool = True) -> Briefing:
    """What a change on the main line stands on (`transitive`: and what that needs in turn), and what became of it up to
    the tip."""
    standing, line = reader.standing, reader.line
    at = standing.position.get(changes.commit)
    change = Change(changes.pr, changes.commit, changes.subject)
    state = standing.state(changes.pr, changes.commit)
    if at is None:
        return Briefing(change, state, (), ())
    files = [f for f in changes.files if not reader.generated(f.path)]
    floor = standing.floor(changes.commit)
    history = reader.diffs(floor, line[0].commit, [i.path for f in files for i in (f.before, f.after) if i])
    touched = [FileDiff(f.before and f.before.path, f.after and f.after.path, f.hunks) for f in files]
    direct = needs(touched, before(line, at, floor, history), {f.before.path: _base(f) for f in files if f.before})
    found = as_prerequisites(direct, standing)
    found += _transitive(found, reader, floor) if transitive else []
    own = {f.after.path: [n for h in f.hunks for n in h.new] for f in files if f.after and f.hunks}
    symbols = {f.after.path: _symbols(f.after.path, f.after.data) for f in files if f.after}
    later = later_changes(own, symbols, changes.commit, line, history, reader.config.upstream.repo)
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


def _base(file: FileChange) -> Base:
    assert file.before
    return Base(split(file.before.data), _symbols(file.before.path, file.before.data))


def _symbols(path: str, data: bytes) -> tuple[str, ...]:
    return tuple(name for name, _ in labels(path, data))


def as_prerequisites(
    found: Mapping[str, Sequence[object]], standing: Standing, through: Change | None = None
) -> list[Prerequisite]:
    """What is missing first; in that, what is edited before what is beside; else upstream's order, newest last."""
    made = []
    for commit, why in found.items():
        message = standing.line[standing.position[commit]]
        made.append(Prerequisite(named(message), standing.state(message.pr, commit), tuple(why), through))
    return sorted(
        made,
        key=lambda p: (STATES.index(p.state), strongest(p.needs), -standing.position[p.change.commit]),
    )


def _transitive(direct: Iterable[Prerequisite], reader: Reader, floor: str | None) -> list[Prerequisite]:
    """What the missing ones need in turn, and is missing too."""
    standing, line = reader.standing, reader.line
    queue = [p.change for p in direct if p.state == "missing"]
    seen = {p.commit for p in queue}
    if not queue:
        return []
    newest = min(standing.position[c.commit] for c in queue)
    span = f"{floor}..{line[newest].commit}" if floor else line[newest].commit
    history = reader.whole or diffs(reader.upstream, span)
    found = []
    for change in queue:
        files = [f for f in history.get(change.commit, ()) if not reader.generated(f.path)]
        needed = needs(files, before(line, standing.position[change.commit], floor, history), {})
        for each in as_prerequisites(needed, standing, change):
            if each.state == "missing" and each.change.commit not in seen:
                seen.add(each.change.commit)
                queue.append(each.change)
                found.append(each)
    return found
