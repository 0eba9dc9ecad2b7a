"""The plan as `sync port` tells it: what a port stood on and lacked, its reverts and fixes; no more than it costs little."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sync_tools.config import Config
from sync_tools.gitio import GitFailed, Repo
from sync_tools.plan.brief import Reader, brief
from sync_tools.plan.conflicts import causes
from sync_tools.plan.model import Briefing, Prerequisite
from sync_tools.plan.report import briefing_object, change_object, name
from sync_tools.plan.standing import Standing, standing
from sync_tools.port.ported import Port
from sync_tools.upstream.changeset import ChangeSet
from sync_tools.upstream.history import Diffs, diffs, messages, span
from sync_tools.upstream.resolve import main_line

MANY = 3
"""From so many ports on, upstream's diffs are read once for all of them."""


@dataclass(frozen=True)
class Briefer:
    """Where briefings of ports come from. `base` is the fork's commit before them; `done` of upstream's are in as well."""

    upstream: Repo
    fork: Repo
    base: str
    config: Config
    done: tuple[str, ...] = ()

    def briefings(self, changes: Sequence[ChangeSet]) -> list[Briefing | None]:
        """What there is to say of each port, those before it taken as landed. None where upstream's history cannot tell:
        a port that is done does not fail for what it would have been told."""
        try:
            return list(self._briefings(changes))
        except GitFailed:
            return [None] * len(changes)

    def _briefings(self, changes: Sequence[ChangeSet]) -> Iterator[Briefing]:
        line = messages(self.upstream, main_line(self.upstream))
        where = standing(self.fork, self.base, self.config, self.upstream, line)
        reader = Reader(self.upstream, self.config, where)
        if len(changes) >= MANY:
            reader = replace(reader, whole=self._whole(where, [c.commit for c in changes]))
        done = set(self.done)
        for each in changes:
            told = brief(each, replace(reader, standing=_with(where, done)), deep=False)
            yield replace(
                told,
                prerequisites=tuple(p for p in told.prerequisites if p.state != "landed"),
                later=tuple(x for x in told.later if x.kind != "change"),
            )
            done.add(each.commit)

    def _whole(self, where: Standing, commits: Collection[str]) -> Diffs:
        oldest = max((c for c in commits if c in where.position), key=lambda c: where.position[c], default=None)
        if oldest is None:
            return {}
        floor, tip = where.floor(oldest), where.line[0].commit
        return diffs(self.upstream, span(floor, tip))


def _with(where: Standing, done: Collection[str]) -> Standing:
    return replace(where, known=replace(where.known, commits=where.known.commits | set(done)))


def conflict_causes(port: Port, briefing: Briefing) -> Iterator[tuple[str, Prerequisite]]:
    """(the fork's path, the change that it lacks) where a conflict lies on lines of that change."""
    for outcome in port.outcomes:
        for each in causes(outcome, briefing.prerequisites):
            yield outcome.path, each


def plan_object(port: Port, briefing: Briefing | None) -> dict[str, Any]:
    """`plan` in a port's object: `conflicts` names the change that each comes from, where the fork lacks one."""
    if briefing is None:
        return {"prerequisites": [], "later_changes": [], "conflicts": []}
    found = [{"path": path, **change_object(each.change)} for path, each in conflict_causes(port, briefing)]
    return {**briefing_object(briefing), "conflicts": found}


def plan_lines(port: Port, briefing: Briefing, upstream: str) -> Iterator[tuple[str, str]]:
    """(style, text): what a port's conflicts come from, where the fork lacks it, and the plan in one line."""
    for path, each in conflict_causes(port, briefing):
        ref = f"{upstream}#{each.change.pr}" if each.change.pr is not None else each.change.commit[:12]
        missing = "is not ported" if each.state == "missing" else "the fork may lack"
        yield "red", f"  the conflict in {path} lies on lines of {ref}, which {missing}: port it first"
    parts = list(_parts(briefing))
    if parts:
        yield "yellow", f"  plan: {'; '.join(parts)}"


def _parts(briefing: Briefing) -> Iterator[str]:
    for state, verb, said in (("missing", "needs", "not ported"), ("unknown", "rests on", "may not be in the fork")):
        names = [name(p.change) for p in briefing.prerequisites if p.state == state]
        if names:
            yield f"{verb} {_few(names)} ({said})"
    for kind, one, many in (("revert", "reverts it", "revert it"), ("fix", "fixes its lines", "fix its lines")):
        names = [name(x.change) for x in briefing.later if x.kind == kind]
        if names:
            yield f"later {_few(names)} {one if len(names) == 1 else many}"


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
