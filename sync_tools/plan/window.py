"""The plan of a window: each landing in upstream's order, what cancels out, what is mended within it, what it needs from
before it. Told from diffs alone: nothing is translated, so that a window of hundreds takes seconds."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from sync_tools.config import Config
from sync_tools.gitio import Repo
from sync_tools.plan.brief import Reader, as_prerequisites, before
from sync_tools.plan.later import later_changes, named
from sync_tools.plan.model import Briefing, Change, Left, Prerequisite, Risk
from sync_tools.plan.prerequisites import needs
from sync_tools.plan.risks import CODE, ci_and_executed, kind_of, reverted, told_paths
from sync_tools.plan.side import Side
from sync_tools.plan.standing import Standing
from sync_tools.plan.words import seam_words
from sync_tools.policy import policy_for
from sync_tools.translate.names import ENGINE_WORD
from sync_tools.upstream.history import Diffs, Message, diffs
from sync_tools.upstream.patch import FileDiff

SAYS_NOTHING = re.compile(rb"[+-]\s*(#|//|$)")


@dataclass(frozen=True)
class Planned:
    """A landing of the window. `together` is the one that with it comes to nothing."""

    briefing: Briefing
    files: int
    added: int
    removed: int
    risks: tuple[Risk, ...]
    absent: tuple[Left, ...] = ()
    left: tuple[Left, ...] = ()
    together: Change | None = None


@dataclass(frozen=True)
class WindowPlan:
    """Landings oldest first."""

    cutoff: str
    tip: str
    landings: tuple[Planned, ...]


def window_reader(upstream: Repo, config: Config, standing: Standing, cutoff: str, tip: str) -> Reader:
    """A reader with the diffs of a window, and of what the fork may lack from before it."""
    floor = cutoff
    if standing.cutoff and standing.position[standing.cutoff] > standing.position[cutoff]:
        floor = standing.cutoff
    return Reader(upstream, config, standing, diffs(upstream, f"{floor}..{tip}"))


def plan_window(cutoff: str, tip: str, reader: Reader, side: Side) -> WindowPlan:
    """The plan of `cutoff..tip`, two commits of the main line; `reader.whole` holds the diffs of all of it."""
    position = reader.standing.position
    window = reader.line[position[tip] : position[cutoff]]
    made = [_planned(message, window, reader, side) for message in reversed(window)]
    found = _with_absent(made, reader, side)
    return WindowPlan(cutoff, tip, tuple(_paired(found, reader)))


def _planned(message: Message, window: Sequence[Message], reader: Reader, side: Side) -> Planned:
    files = reader.whole.get(message.commit, ())
    carried = [f for f in files if not reader.passed_over(f.path)]
    own = {f.new: [n for h in f.hunks for n in h.new] for f in carried if f.new and f.hunks}
    later = later_changes(own, {}, message.commit, window, reader.whole, reader.config.upstream.repo)
    told = tuple(each for each in later if each.kind != "change")
    state = reader.standing.state(message.pr, message.commit)
    outside = tuple(_outside(message, carried, window, reader))
    return Planned(
        briefing=Briefing(named(message), state, outside, told),
        files=len(files),
        added=sum(h.new_count for f in files for h in f.hunks),
        removed=sum(h.old_count for f in files for h in f.hunks),
        risks=(*reverted(later), *_marks(carried, side), *ci_and_executed([f.path for f in files])),
        left=tuple(_left(files, reader.config)),
    )


def _outside(
    message: Message, files: Sequence[FileDiff], window: Sequence[Message], reader: Reader
) -> Iterator[Prerequisite]:
    """What the fork lacks of what landed before the window."""
    standing = reader.standing
    oldest = standing.position[window[-1].commit]
    if standing.cutoff is None or standing.position[standing.cutoff] <= oldest + 1:
        return
    floor = standing.cutoff
    history = before(reader.line, standing.position[message.commit], floor, reader.whole)
    for each in as_prerequisites(needs(files, history, {}), standing):
        if each.state == "missing" and standing.position[each.change.commit] > oldest:
            yield each


def _marks(files: Sequence[FileDiff], side: Side) -> Iterator[Risk]:
    """The marks that a diff shows by itself."""
    edited = tuple(f.path for f in files if side.place(f.old or f.path) in side.edited)
    if edited:
        yield Risk("edited", f"people changed in the fork what it touches: {told_paths(edited)}", edited)
    if side.config.engine != "same":
        words = seam_words(ENGINE_WORD)
        seam = tuple(f.path for f in files if kind_of(f.path) in CODE and words.search(b"\n".join(f.changed)))
        if seam:
            yield Risk("engine", f"changed lines speak of the engine: {told_paths(seam)}", seam)
    if not any(kind_of(f.path) == "tests" for f in files):
        untested = tuple(f.path for f in files if kind_of(f.path) == "code" and _says_something(f))
        if untested:
            yield Risk("untested", f"code changes and no test does: {told_paths(untested)}", untested)


def _says_something(file: FileDiff) -> bool:
    """Whether more than comments and blank lines changes."""
    return any(not SAYS_NOTHING.match(line) for line in file.changed)


def _left(files: Iterable[FileDiff], config: Config) -> Iterator[Left]:
    """What a policy keeps out of a port."""
    for file in files:
        policy = policy_for(config, file.path)
        if policy and policy.action in ("skip", "owned"):
            yield Left(file.path, f"{'dropped' if policy.action == 'skip' else 'owned'}: {policy.reason}")


def _with_absent(landings: Iterable[Planned], reader: Reader, side: Side) -> Iterator[Planned]:
    """With the paths that each edits while neither the fork has them, nor an earlier landing brings them."""
    here = set(side.paths)
    for each in landings:
        if each.briefing.state == "landed":
            yield each
            continue
        files = reader.whole.get(each.briefing.change.commit, ())
        kept_out = {left.path for left in each.left}
        absent = sorted(
            side.place(f.old)
            for f in files
            if f.old and f.new and kind_of(f.path) != "ci" and f.path not in kept_out and side.place(f.old) not in here
        )
        lacking = tuple(Left(path, "the fork lacks it, and nothing before in the window brings it") for path in absent)
        here |= {side.place(f.new) for f in files if f.new and (f.old is None or side.place(f.old) in here)}
        yield replace(each, absent=lacking)


def _paired(landings: Iterable[Planned], reader: Reader) -> Iterator[Planned]:
    """With what each comes to nothing together with: its revert, line by line, or what it reverts."""
    made = list(landings)
    by_commit = {each.briefing.change.commit: each.briefing.change for each in made}
    pairs: dict[str, str] = {}
    for each in made:
        for later in each.briefing.later:
            ours, theirs = each.briefing.change.commit, later.change.commit
            if later.kind == "revert" and not later.undone_by and _cancels(ours, theirs, reader):
                pairs[ours], pairs[theirs] = theirs, ours
    for each in made:
        other = pairs.get(each.briefing.change.commit)
        yield replace(each, together=by_commit[other]) if other else each


def _cancels(commit: str, revert: str, reader: Reader) -> bool:
    """Whether a revert removes just what a commit added, and adds just what that removed."""
    there, back = _balance(reader.whole, commit, reader), _balance(reader.whole, revert, reader)
    return bool(there) and there == Counter({(path, _swapped(line)): n for (path, line), n in back.items()})


def _balance(whole: Diffs, commit: str, reader: Reader) -> Counter[tuple[str, bytes]]:
    files = (f for f in whole.get(commit, ()) if not reader.passed_over(f.path))
    return Counter((f.path, line) for f in files for line in f.changed)


def _swapped(line: bytes) -> bytes:
    return (b"-" if line[:1] == b"+" else b"+") + line[1:]
