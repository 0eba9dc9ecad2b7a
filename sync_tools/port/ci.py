"""The workflow template and the workflow that is generated from it, in a port.

Upstream's rows go into the fork's matrix wherever the fork keeps its template; the workflow is rendered again. Both are
part of the adaptation commit.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sync_tools.ci.delta import MatrixDelta, RowChange
from sync_tools.ci.matrix import parse
from sync_tools.ci.paths import counterpart, locate
from sync_tools.ci.port import port_template
from sync_tools.ci.render import workflow as render
from sync_tools.config import Config
from sync_tools.errors import SyncError
from sync_tools.ledger.model import Registration
from sync_tools.merge.file import merge_file
from sync_tools.merge.result import Conflict, Merged
from sync_tools.modes import REGULAR
from sync_tools.outcome import FileOutcome
from sync_tools.paths import safe_in
from sync_tools.port.edits import Edits
from sync_tools.port.file import Setting, translate_image
from sync_tools.port.images import matrix_name
from sync_tools.port.paused import Stages
from sync_tools.tree import Blob, Tree
from sync_tools.upstream.changeset import ChangeSet


@dataclass(frozen=True)
class Workflows:
    """What became of the template and the workflow."""

    template: str = ""
    outcomes: tuple[FileOutcome, ...] = ()
    edits: Edits = field(default_factory=dict)
    delta: MatrixDelta = field(default_factory=MatrixDelta)
    conflicts: tuple[Conflict, ...] = ()
    stages: Mapping[str, Stages] = field(default_factory=dict)
    registrations: tuple[Registration, ...] = ()

    def rows(self) -> dict[str, list[dict[str, Any]]]:
        """The rows as `sync port --json` gives them; those without a place in the fork's matrix say why."""
        rows = {
            kind: [_row(change) for change in getattr(self.delta, kind)] for kind in ("added", "removed", "changed")
        }
        left = [
            {"job": u.job, "test_file": u.row.test_file, "change": u.kind, "why": u.why} for u in self.delta.unplaced
        ]
        return rows | {"unplaced": left}


def _row(change: RowChange) -> dict[str, Any]:
    row = change.after or change.before
    assert row is not None
    return {
        "job": change.job,
        "test_file": row.test_file,
        "options": values([o for o in row.options if o[0] != "test_file"]),
    }


def is_generated(path: str, tree: Tree, config: Config) -> bool:
    """Whether a path of the fork is the workflow that is rendered from a template that it has."""
    return path == config.ci.workflow and locate(tree.paths(), config.ci).template is not None


def workflow_files(changes: ChangeSet, tree: Tree, config: Config) -> dict[str, FileOutcome]:
    """The files of the change that are a template the fork has, or a workflow generated from one, by upstream's path."""
    found = {}
    template = locate(tree.paths(), config.ci).template
    for change in changes.files:
        place = counterpart(change.path, tree.paths(), config.ci)
        if place is None or template is None or change.kind in ("renamed", "type"):
            continue
        ours = tree.blob(safe_in(tree, place, "upstream's change"))
        outcome = FileOutcome(change, place, "merged", ours=ours, mechanical=ours, final=ours)
        if place != template:
            outcome = replace(outcome, disposition="generated", reason=f"rendered from {template}")
        found[change.path] = outcome
    return found


def port_workflows(changes: ChangeSet, special: Sequence[FileOutcome], setting: Setting) -> Workflows:
    """The template with upstream's rows in it, and the workflow rendered from it."""
    result = Workflows()
    templates = [o for o in special if o.disposition == "merged"]
    for outcome in templates:
        result = port_template_file(outcome, result, setting)
    edits, ci = dict(result.edits), setting.config.ci
    for outcome in result.outcomes:
        if outcome.final is None or outcome.merged is None or outcome.merged.conflicts:
            continue
        standing = setting.tree.blob(ci.workflow)
        try:
            text = render(outcome.final.data, outcome.path, standing.data if standing else None, ci.banner)
        except SyncError:
            if _renders(outcome.ours, outcome.path):
                raise
            continue  # the fork's template was broken before: the check says so, and all else of the port comes in
        edits[ci.workflow] = Blob(text, standing.mode if standing else REGULAR)
    generated = tuple(replace(o, final=edits.get(o.path, o.ours)) for o in special if o.disposition == "generated")
    return replace(result, outcomes=(*result.outcomes, *generated), edits=edits)


def _renders(template: Blob | None, path: str) -> bool:
    try:
        return template is not None and bool(render(template.data, path))
    except SyncError:
        return False


def port_template_file(outcome: FileOutcome, result: Workflows, setting: Setting) -> Workflows:
    """What `result` becomes with upstream's change of a template."""
    change, ours = outcome.change, outcome.ours
    assert ours is not None
    before, after = (translate_image(i, setting) for i in (change.before, change.after))
    ported = port_template(
        change.before.data if change.before else None,
        change.after.data if change.after else None,
        ours.data,
        rename=lambda name: matrix_name(name, setting.config, setting.translator),
        translate=lambda data: setting.translation(change.path, data).data,
        merge=lambda path, base, mine, theirs: merge_file(path, base, mine, theirs),
        places=setting.config.ci.places,
        path=outcome.path,
    )
    final = None if ported.data is None else Blob(ported.data, ours.mode)
    merged = Merged(ours.data, final.data if final else b"", ported.conflicts)
    told = replace(
        outcome,
        before=before,
        after=after,
        merged=merged,
        final=final,
        edited=before is None or ours.data != before.data,
        unplaced=tuple(_unplaced(ported.delta)),
    )
    stages = Stages(*(Blob(t.data, ours.mode) if t else None for t in (before, None, after)))
    stages = replace(stages, ours=ours)
    return Workflows(
        template=outcome.path,
        outcomes=(*result.outcomes, told),
        edits={**result.edits, outcome.path: final},
        delta=ported.delta,
        conflicts=(*result.conflicts, *ported.conflicts),
        stages={outcome.path: stages},
        registrations=tuple(_registrations(ported.delta, final)),
    )


def _unplaced(delta: MatrixDelta) -> Iterator[tuple[str, str]]:
    """The tests and jobs of upstream's change that found no place, each with why."""
    for left in delta.unplaced:
        yield left.row.test_file, f"{left.kind} in upstream's {left.job}: {left.why}"
    for job in delta.missing_jobs:
        yield job, f"the fork has no job {job}"


def _registrations(delta: MatrixDelta, template: Blob | None) -> list[Registration]:
    label = _labels(template.data) if template else {}
    return [
        Registration(change=kind, job=c.job, test_file=c.test_file, label=label.get(c.job, ""))
        for kind in ("added", "removed", "changed", "moved")
        for c in getattr(delta, kind)
    ]


def _labels(template: bytes) -> dict[str, str]:
    """The pull request label that starts each job; none where the matrix cannot be read."""
    try:
        jobs = parse(template.decode("utf-8", "surrogateescape"), "template").matrix.jobs
    except SyncError:
        return {}
    return {job.name: str(value) for job in jobs if (value := values(job.options).get("label"))}


def values(options: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Options with their values; what is no literal stays as it is written."""
    found = {}
    for name, shown in options:
        try:
            found[name] = ast.literal_eval(shown)
        except (ValueError, SyntaxError):
            found[name] = shown
    return found
