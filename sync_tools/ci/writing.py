"""A merged matrix as edits of the fork's text."""

from collections.abc import Mapping

from sync_tools.ci.cells import Cell, Cells, fitted, split
from sync_tools.ci.jobs import JobMerge, MatrixMerge
from sync_tools.ci.literal import Map
from sync_tools.ci.matrix import TESTS, Template
from sync_tools.ci.options import Options, merge_options
from sync_tools.ci.rows import without_rows
from sync_tools.ci.sides import JobSide
from sync_tools.ci.views import CellViews, Span, Views, concatenated, splice, weave


def edits(merged: MatrixMerge, ours: Template) -> dict[Span, Views]:
    """The lists of rows and the jobs dict, each with its text after the merge."""
    lists: dict[Span, Views] = {}
    for rows in merged.rows():
        for span, cells in rows.lists.items():
            if span not in merged.disputed:
                lists[span] = weave(rows.original[span], cells)
    dict_span, cells = _entries(ours)
    return lists | {dict_span: weave(cells, list(_jobs(merged, cells, lists)))}


def _jobs(merged: MatrixMerge, cells: Cells, lists: Mapping[Span, Views]) -> list[CellViews]:
    woven: list[CellViews] = []
    for slot in merged.slots:
        mine = cells.cells[slot.ours] if slot.ours is not None else None
        if mine and slot.ours in merged.jobs:
            woven.append(CellViews.rewritten(mine, _body(merged.jobs[slot.ours], lists)))
        elif mine and slot.state == "kept-by-ours" and slot.before is not None and not merged.kept_for_its_list(slot):
            woven.append(CellViews(_fitted(merged.old.jobs[slot.before], cells), mine, None))
        elif mine and slot.ours is not None and slot.state != "removed":
            woven.append(CellViews.rewritten(mine, _with_lists(merged.mine.jobs[slot.ours], lists)))
        elif slot.state == "added" and slot.after is not None and merged.new.jobs[slot.after].node:
            woven.append(CellViews.same(_fitted(merged.new.jobs[slot.after], cells)))
    return woven


def _entries(template: Template) -> tuple[Span, Cells]:
    assert template.jobs_block is not None
    node = template.jobs_block.value
    assert isinstance(node, Map)
    return (node.start, node.end), split(template.text, node)


def _fitted(job: JobSide, target: Cells) -> Cell:
    """A job of upstream's in the style of the fork's; without the rows that stand elsewhere."""
    template = job.rows.template
    assert job.node is not None
    _, source = _entries(template)
    at = next(i for i, node in enumerate(template.jobs) if node is job.node)
    cell = source.cells[at]
    entry = job.node.entry
    kept = {(node.seq.start, node.at) for node in job.rows.nodes}
    gone = [node for node in job.node.rows if (node.seq.start, node.at) not in kept]
    item = splice(template.text, (entry.start, entry.end), without_rows(template, gone)).ours
    newline = "\r\n" if any("\r\n" in c.lead for c in target.cells) else "\n"
    return fitted(Cell(cell.lead, item, cell.gap, cell.tail), source, target, newline)


def _with_lists(job: JobSide, lists: Mapping[Span, Views]) -> Views:
    assert job.node is not None
    return splice(job.rows.template.text, (job.node.entry.start, job.node.entry.end), lists)


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
    rewritten = {
        at: Views.same(after.tests(ours)) if job.reformed else splice(template.text, (e.start, e.end), lists)
        for at, e in enumerate(body.items)
        if job.rows and template.word(e.key) == TESTS
    }
    return concatenated([name, between, merge_options(before, ours, after, rewritten)])
