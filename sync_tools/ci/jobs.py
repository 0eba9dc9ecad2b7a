"""The three-way merge of the matrix: jobs, their options, and their rows in the lists where the fork keeps them."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from sync_tools.ci.cells import Cells, fitted, split
from sync_tools.ci.literal import Map, Name, Node, Seq, Sum
from sync_tools.ci.matrix import TESTS, JobNode, Template
from sync_tools.ci.options import Options, merge_options
from sync_tools.ci.rows import MergedRows, Rename, merge_rows
from sync_tools.ci.sequence import Slot, merge
from sync_tools.ci.sides import JobSide, sides
from sync_tools.ci.views import CellViews, Span, Views, concatenated, splice, weave
from sync_tools.config import Place


@dataclass(frozen=True)
class JobMerge:
    """A job that ours has and upstream has after the change. `reformed`: upstream writes its rows in another way now
    (a shared list, say) and ours is as upstream's was, so the new way is taken over."""

    slot: Slot
    before: JobSide
    ours: JobSide
    after: JobSide
    rows: MergedRows | None
    reformed: bool

    @property
    def renamed(self) -> bool:
        return self.ours.name != self.after.name and self.before.name != self.after.name


@dataclass(frozen=True)
class MatrixMerge:
    """All that is decided about the jobs, before any text is written. `disputed` are lists of ours that several jobs
    share and that upstream changed for some of them only."""

    old: tuple[JobSide, ...]
    mine: tuple[JobSide, ...]
    new: tuple[JobSide, ...]
    slots: tuple[Slot, ...]
    jobs: Mapping[int, JobMerge]

    @cached_property
    def disputed(self) -> frozenset[Span]:
        wanted: dict[Span, set[tuple[CellViews, ...]]] = defaultdict(set)
        for job in self.jobs.values():
            for span, cells in job.rows.lists.items() if job.rows and not job.reformed else ():
                wanted[span].add(cells)
        return frozenset(span for span, cells in wanted.items() if len(cells) > 1)


def merge_jobs(
    before: Template, ours: Template, after: Template, rename: Rename, places: Sequence[Place]
) -> MatrixMerge:
    """Upstream's change of the matrix, brought to the fork's."""
    old, mine, new = sides(before, ours, after, rename, places)
    slots = merge([j.item for j in old], [j.item for j in mine], [j.item for j in new])
    elsewhere = _landed_elsewhere(old, mine, new)
    jobs = {
        slot.ours: _job(slot, old, mine, new, elsewhere)
        for slot in slots
        if slot.ours is not None and slot.after is not None
    }
    return MatrixMerge(tuple(old), tuple(mine), tuple(new), tuple(slots), jobs)


def _job(
    slot: Slot, old: Sequence[JobSide], mine: Sequence[JobSide], new: Sequence[JobSide], elsewhere: frozenset[str]
) -> JobMerge:
    assert slot.ours is not None and slot.after is not None
    ours, after = mine[slot.ours], new[slot.after]
    before = replace(after, node=None, rows=replace(after.rows, nodes=())) if slot.before is None else old[slot.before]
    if any(side.opaque for side in (before, ours, after)) or (target := _home(ours)) is None:
        return JobMerge(slot, before, ours, after, None, False)
    rows = merge_rows(before.rows, ours.rows, after.rows, target, elsewhere)
    forms = [side.node.job.form if side.node else None for side in (before, ours, after)]
    as_upstream = forms[0] == forms[1] and before.rows.items == ours.rows.items
    return JobMerge(slot, before, ours, after, rows, as_upstream and None not in forms and forms[1] != forms[2])


def _landed_elsewhere(old: Sequence[JobSide], mine: Sequence[JobSide], new: Sequence[JobSide]) -> frozenset[str]:
    """Tests that are new upstream and that the fork runs already, in a job where upstream does not run them."""
    known = {item.kin for job in old for item in job.rows.items}
    upstream = {(job.kin, item.kin) for job in new for item in job.rows.items}
    return frozenset(
        str(item.kin)
        for job in mine
        for item in job.rows.items
        if item.kin not in known and (job.kin, item.kin) not in upstream
    )


def home(template: Template, job: JobNode) -> Seq | None:
    """The list that takes a job's new rows: the one of its last row, or the last that it names."""
    if job.rows:
        return job.rows[-1].seq
    tests = next((e.value for e in job.body.items if template.word(e.key) == TESTS), None)
    return _last_list(template, tests) if tests else None


def _home(job: JobSide) -> Seq | None:
    return home(job.rows.template, job.node) if job.node else None


def _last_list(template: Template, node: Node) -> Seq | None:
    if isinstance(node, Sum):
        return next((seq for part in reversed(node.parts) if (seq := _last_list(template, part))), None)
    if isinstance(node, Name):
        block = next((b for b in template.lists if b.name == node.id), None)
        return _last_list(template, block.value) if block else None
    return node if isinstance(node, Seq) else None


def edits(merged: MatrixMerge, ours: Template, after: Template) -> dict[Span, Views]:
    """The merged matrix as edits of ours' text: the lists that stand in blocks of their own, and the jobs dict."""
    lists: dict[Span, Views] = {}
    for job in merged.jobs.values():
        for span, cells in job.rows.lists.items() if job.rows and not job.reformed else ():
            if span not in merged.disputed and span not in lists:
                lists[span] = weave(split(ours.text, _seq(job.ours, span)), cells)
    assert ours.jobs_block is not None and after.jobs_block is not None
    node = ours.jobs_block.value
    assert isinstance(node, Map)
    cells = split(ours.text, node)
    theirs = _entries(after)
    newline = "\r\n" if "\r\n" in ours.text else "\n"
    woven: list[CellViews] = []
    for slot in merged.slots:
        if slot.ours is not None and slot.ours in merged.jobs:
            woven.append(CellViews.rewritten(cells.cells[slot.ours], _body(merged.jobs[slot.ours], lists)))
        elif slot.ours is not None and slot.state == "kept-by-ours":
            assert slot.before is not None
            before = _entries(merged.old[slot.before].rows.template)
            base = fitted(before.cells[slot.before], before, cells, newline)
            woven.append(CellViews(base, cells.cells[slot.ours], None))
        elif slot.ours is not None and slot.state != "removed":
            woven.append(CellViews.same(cells.cells[slot.ours]))
        elif slot.state == "added" and slot.after is not None and merged.new[slot.after].node:
            woven.append(CellViews.same(fitted(theirs.cells[slot.after], theirs, cells, newline)))
    return lists | {(node.start, node.end): weave(cells, woven)}


def _entries(template: Template) -> Cells:
    assert template.jobs_block is not None and isinstance(template.jobs_block.value, Map)
    return split(template.text, template.jobs_block.value)


def _seq(job: JobSide, span: Span) -> Seq:
    seqs = [node.seq for node in job.rows.nodes] + [seq for seq in [_home(job)] if seq]
    return next(seq for seq in seqs if (seq.start, seq.end) == span)


def _body(job: JobMerge, lists: Mapping[Span, Views]) -> Views:
    """The job's entry: its name, its options, and its tests as they were merged."""
    assert job.ours.node is not None
    template, entry, body = job.ours.rows.template, job.ours.node.entry, job.ours.node.body
    key = template.source(entry.key)
    name = Views.same(key[0] + job.after.name + key[-1] if job.renamed else key)
    between = Views.same(template.text[entry.key.end : body.start])
    if job.before.node is None or job.after.node is None:
        return concatenated([name, between, splice(template.text, (body.start, body.end), lists)])
    but = TESTS if job.rows else ""
    before, ours, after = (
        Options.of(side.rows.template, side.node.body, but=but)
        for side in (job.before, job.ours, job.after)
        if side.node is not None
    )
    tests = {at: e for at, e in enumerate(body.items) if job.rows and template.word(e.key) == TESTS}
    rewritten = {
        at: Views.same(after.tests(ours)) if job.reformed else splice(template.text, (e.start, e.end), lists)
        for at, e in tests.items()
    }
    return concatenated([name, between, merge_options(before, ours, after, rewritten)])
