"""The plan of one change: its briefing, and what a port would make of it. It writes nothing."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sync_tools.outcome import FileOutcome
from sync_tools.plan.brief import Reader, brief
from sync_tools.plan.companions import by_file, by_mention
from sync_tools.plan.model import Left, Plan, Row, TouchedFile
from sync_tools.plan.removals import removals
from sync_tools.plan.risks import kind_of, risks
from sync_tools.port.arrange import arrange, unresolved_sites
from sync_tools.port.ci import Workflows
from sync_tools.port.file import Setting
from sync_tools.port.fork import Fork
from sync_tools.port.prepared import carried_images, translating_ahead
from sync_tools.upstream.changeset import ChangeSet


@dataclass(frozen=True)
class Ground:
    """The fork's side of a plan: where a port would go."""

    fork: Fork
    base: str
    setting: Setting


def plan(changes: ChangeSet, reader: Reader, ground: Ground) -> Plan:
    """Raises SyncError for hostile or unusable input, as a port does."""
    images = [i for i in carried_images([changes], reader.config) if i.path != reader.config.ci.workflow]
    with translating_ahead(images, ground.setting) as translated:
        briefing = brief(changes, reader)  # git's part of it, and what other processes translate, take one time
        setting = translated()
    outcomes, workflows = arrange(changes, setting)
    told = {p.change.commit for p in briefing.prerequisites} | {x.change.commit for x in briefing.later}
    paths = {image.path for f in changes.files for image in (f.before, f.after) if image}
    companions = by_mention(briefing.change, reader.line, reader.config.upstream.repo)
    told |= {c.change.commit for c in companions}
    companions += by_file(briefing.change, paths, reader.line, reader.beside(changes.commit), told)
    found = [*risks(outcomes, unresolved_sites(outcomes), briefing)]
    found += removals(changes, setting, ground.fork.repo, ground.base, reader.upstream)
    return Plan(
        briefing=briefing,
        files=tuple(_file(o) for o in outcomes),
        risks=tuple(found),
        companions=companions,
        absent=_left(outcomes, "absent", setting),
        owned=_left(outcomes, "owned", setting),
        dropped=_left(outcomes, "dropped", setting),
        rows=tuple(_rows(workflows)),
        other_landings=changes.other_landings,
    )


def _file(outcome: FileOutcome) -> TouchedFile:
    change = outcome.change
    return TouchedFile(
        change.path, kind_of(change.path), change.kind, change.added, change.removed, outcome.path, outcome.disposition
    )


def _left(outcomes: Sequence[FileOutcome], disposition: str, setting: Setting) -> tuple[Left, ...]:
    return tuple(_left_out(o, setting) for o in outcomes if o.disposition == disposition)


def _left_out(outcome: FileOutcome, setting: Setting) -> Left:
    removal = setting.removed_by(outcome.old_path or outcome.path) if outcome.ours is None else None
    return Left(outcome.path, outcome.reason, removal[0] if removal else None)


def _rows(workflows: Workflows) -> Iterator[Row]:
    """The rows that the port changes, then those that find no place in the fork's matrix."""
    for row in workflows.registrations:
        yield Row(row.change, row.job, row.test_file, row.label)
    for left in workflows.delta.unplaced:
        yield Row("unplaced", left.job, left.row.test_file, "")
