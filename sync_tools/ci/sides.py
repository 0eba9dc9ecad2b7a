"""Upstream's two matrices and the fork's, brought to one set of job names and places before they are merged."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

from sync_tools.ci.matrix import JobNode, Option, RowNode, Template
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
    def options(self) -> tuple[Option, ...]:
        return self.node.job.options if self.node else ()

    @property
    def item(self) -> Item:
        return Item((self.options, tuple(item.key for item in self.rows.items)), self.kin)

    @property
    def form(self) -> tuple[str, ...]:
        return self.node.job.form if self.node else ("elsewhere",)

    @property
    def opaque(self) -> bool:
        return self.node is not None and self.node.opaque

    @property
    def relocated(self) -> bool:
        """Whether `places` took rows from it or gave it some."""
        return self.node is None or self.node.rows != self.rows.nodes

    @property
    def own_rows(self) -> Rows:
        """The rows that are written in the job itself, not in a shared list."""
        entry = self.node.entry if self.node else None
        own = (n for n in self.rows.nodes if entry and entry.start <= n.seq.start < entry.end)
        return replace(self.rows, nodes=tuple(own))


@dataclass(frozen=True)
class Side:
    """A template's matrix; `lists` are its shared lists."""

    template: Template
    jobs: tuple[JobSide, ...]
    lists: Mapping[str, Rows]

    def gone(self, name: str) -> list[RowNode]:
        """The rows of a list that `places` took out of it."""
        kept = {(node.seq.start, node.at) for node in self.lists[name].nodes}
        return [node for node in self.template.named[name] if (node.seq.start, node.at) not in kept]


def sides(
    before: Template, ours: Template, after: Template, rename: Rename, places: Sequence[Place]
) -> tuple[Side, Side, Side]:
    """The three matrices; upstream's with `places` carried out, renamed jobs under their new name."""
    old, mine, new = (_side(template, rename) for template in (before, ours, after))
    renamed = {b: a for b, a in _renames(old.jobs, new.jobs).items() if a not in {job.kin for job in mine.jobs}}
    old, mine = (
        replace(side, jobs=tuple(replace(job, kin=renamed.get(job.kin, job.kin)) for job in side.jobs))
        for side in (old, mine)
    )
    old, new = (_relocated(side, places, rename) for side in (old, new))
    return _with_places(old, new), mine, _with_places(new, old)


def _side(template: Template, rename: Rename) -> Side:
    jobs = (
        JobSide(rename(node.job.name), node.job.name, node, Rows(template, node.rows, rename)) for node in template.jobs
    )
    return Side(template, tuple(jobs), {b.name: Rows(template, template.named[b.name], rename) for b in template.lists})


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
    return dict(job.options).get(name)


def _relocated(side: Side, places: Sequence[Place], rename: Rename) -> Side:
    """Upstream's matrix with each row of `places` moved to its job; out of every job that shares its list."""
    for place in places:
        source = next((job for job in side.jobs if job.kin == rename(place.job)), None)
        rows = [n for n in source.rows.nodes if rename(n.row.test_file) == rename(place.test_file)] if source else []
        if not rows or source is None:
            continue
        kin = rename(place.to)
        jobs = [replace(job, rows=_without(job.rows, rows)) for job in side.jobs]
        if kin not in {job.kin for job in jobs}:
            jobs.append(JobSide(kin, place.to, None, replace(source.rows, nodes=())))
        side = Side(
            side.template,
            tuple(_with_rows(job, rows) if job.kin == kin else job for job in jobs),
            {name: _without(of, rows) for name, of in side.lists.items()},
        )
    return side


def _with_rows(job: JobSide, rows: Sequence[RowNode]) -> JobSide:
    """With the rows at its end that it lacks."""
    known = {item.key for item in job.rows.items}
    new = tuple(row for row in rows if job.rows.item(row.row).key not in known)
    return replace(job, rows=replace(job.rows, nodes=job.rows.nodes + new))


def _without(rows: Rows, gone: Sequence[RowNode]) -> Rows:
    places = {(row.seq.start, row.at) for row in gone}
    return replace(rows, nodes=tuple(n for n in rows.nodes if (n.seq.start, n.at) not in places))


def _with_places(side: Side, other: Side) -> Side:
    """With a job for each that is on one side a place alone, where it stands on the other: it is neither new nor gone,
    and has not moved."""
    jobs = [job for job in side.jobs if job.node is not None]
    known = {job.kin: job for job in side.jobs}
    for at, job in enumerate(other.jobs):
        mine = known.get(job.kin)
        if (mine is None and job.node is None) or (mine is not None and mine.node is None):
            place = mine or replace(job, rows=replace(job.rows, nodes=()))
            before = {earlier.kin for earlier in other.jobs[:at]}
            last = max((i for i, earlier in enumerate(jobs) if earlier.kin in before), default=-1)
            jobs.insert(last + 1, place)
    alone = [job for job in side.jobs if job.node is None and job.kin not in {j.kin for j in jobs}]
    return replace(side, jobs=(*jobs, *alone))
