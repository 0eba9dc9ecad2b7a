"""Upstream's two matrices and the fork's, brought to one set of job names and places before they are merged."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

from sync_tools.ci.matrix import JobNode, RowNode, Template
from sync_tools.ci.rows import Rename, Rows
from sync_tools.ci.sequence import Item
from sync_tools.config import Place

SIMILAR = 0.5


@dataclass(frozen=True)
class JobSide:
    """A job as one side has it: `kin` is the name by which it is found on the others, `node` None for a job that
    exists on this side only as the place of rows that `places` puts there."""

    kin: str
    name: str
    node: JobNode | None
    rows: Rows

    @property
    def item(self) -> Item:
        options = self.node.job.options if self.node else ()
        return Item((options, tuple(item.key for item in self.rows.items)), self.kin)

    @property
    def opaque(self) -> bool:
        return self.node is not None and self.node.opaque


def sides(
    before: Template, ours: Template, after: Template, rename: Rename, places: Sequence[Place]
) -> tuple[list[JobSide], list[JobSide], list[JobSide]]:
    """The jobs of the three matrices; upstream's with `places` carried out, renamed jobs under their new name."""
    old, mine, new = (_jobs(template, rename) for template in (before, ours, after))
    renamed = {b: a for b, a in _renames(old, new).items() if a not in {job.kin for job in mine}}
    old, mine = ([replace(job, kin=renamed.get(job.kin, job.kin)) for job in jobs] for jobs in (old, mine))
    old, new = (_relocated(jobs, places, rename) for jobs in (old, new))
    return _with_places(old, new), mine, _with_places(new, old)


def _jobs(template: Template, rename: Rename) -> list[JobSide]:
    return [
        JobSide(rename(node.job.name), node.job.name, node, Rows(template, node.rows, rename)) for node in template.jobs
    ]


def _renames(old: Sequence[JobSide], new: Sequence[JobSide]) -> Mapping[str, str]:
    """Jobs that went, to jobs that came and are the same: by their label, their rows, or their options and place."""
    gone = [job for job in old if job.kin not in {n.kin for n in new}]
    come = [job for job in new if job.kin not in {o.kin for o in old}]
    scores = sorted(((_likeness(g, c, old, new), -i, -j) for i, g in enumerate(gone) for j, c in enumerate(come)))
    renames: dict[str, str] = {}
    for score, i, j in reversed(scores):
        before, after = gone[-i].kin, come[-j].kin
        if score >= SIMILAR and before not in renames and after not in renames.values():
            renames[before] = after
    return renames


def _likeness(gone: JobSide, come: JobSide, old: Sequence[JobSide], new: Sequence[JobSide]) -> float:
    label = _option(gone, "label")
    if label and label == _option(come, "label"):
        return 1.0
    rows = {item.kin for item in gone.rows.items}, {item.kin for item in come.rows.items}
    names = set(gone.kin.split("-")), set(come.kin.split("-"))
    same_place = _neighbours(gone, old) == _neighbours(come, new)
    return max(_overlap(*rows), _overlap(*names) if same_place else 0.0)


def _overlap(left: set[Hashable] | set[str], right: set[Hashable] | set[str]) -> float:
    return len(left & right) / max(1, len(left | right))


def _neighbours(job: JobSide, jobs: Sequence[JobSide]) -> tuple[list[str], list[str]]:
    at = [j.kin for j in jobs].index(job.kin)
    return [j.kin for j in jobs[:at]], [j.kin for j in jobs[at + 1 :]]


def _option(job: JobSide, name: str) -> str | None:
    return dict(job.node.job.options).get(name) if job.node else None


def _relocated(jobs: list[JobSide], places: Sequence[Place], rename: Rename) -> list[JobSide]:
    """Upstream's jobs with each row of `places` moved to its job; out of every job that shares its list."""
    for place in places:
        source = next((job for job in jobs if job.kin == rename(place.job)), None)
        rows = [n for n in source.rows.nodes if rename(n.row.test_file) == rename(place.test_file)] if source else []
        if not rows or source is None:
            continue
        jobs = [replace(job, rows=replace(job.rows, nodes=_without(job.rows.nodes, rows))) for job in jobs]
        kin = rename(place.to)
        if kin not in {job.kin for job in jobs}:
            jobs.append(JobSide(kin, place.to, None, replace(source.rows, nodes=())))
        jobs = [_with_rows(job, rows) if job.kin == kin else job for job in jobs]
    return jobs


def _with_rows(job: JobSide, rows: Sequence[RowNode]) -> JobSide:
    """With the rows at its end that it lacks."""
    known = {item.key for item in job.rows.items}
    new = tuple(row for row in rows if job.rows.item(row.row).key not in known)
    return replace(job, rows=replace(job.rows, nodes=job.rows.nodes + new))


def _without(nodes: Sequence[RowNode], rows: Sequence[RowNode]) -> tuple[RowNode, ...]:
    gone = {(row.seq.start, row.at) for row in rows}
    return tuple(node for node in nodes if (node.seq.start, node.at) not in gone)


def _with_places(jobs: list[JobSide], other: Sequence[JobSide]) -> list[JobSide]:
    """With an empty job for each that stands on the other side as a place alone, so that it counts as neither new nor gone."""
    known = {job.kin for job in jobs}
    return jobs + [
        replace(job, rows=replace(job.rows, template=_template(jobs, job), nodes=()))
        for job in other
        if job.node is None and job.kin not in known
    ]


def _template(jobs: Sequence[JobSide], otherwise: JobSide) -> Template:
    return jobs[0].rows.template if jobs else otherwise.rows.template
