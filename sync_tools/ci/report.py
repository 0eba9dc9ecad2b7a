"""What a matrix merge did, as a delta: each row once, and whatever found no place."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

from sync_tools.ci.delta import JobChange, MatrixDelta, Present, RowChange, Unplaced, combined
from sync_tools.ci.jobs import JobMerge, MatrixMerge
from sync_tools.ci.matrix import Row
from sync_tools.ci.rows import MergedRows, Rows
from sync_tools.ci.sequence import Slot, State, merge
from sync_tools.ci.sides import JobSide
from sync_tools.ci.views import CellViews

SHARED = "the fork keeps it in a list that serves other jobs too"
EDITED = "upstream removed the job; the fork has other rows in the list that it shares"
NO_ROW = "the fork has no such row in this job"
KINDS: dict[State, Literal["added", "removed", "changed"]] = {
    "added": "added",
    "removed": "removed",
    "changed": "changed",
    "lost-by-ours": "changed",
}


def report(merged: MatrixMerge) -> MatrixDelta:
    """The delta of a merge; rows of a list that several jobs share are told of once, under the first of them."""
    parts: list[MatrixDelta] = []
    for name, rows in merged.lists.items():
        parts += _rows(rows, name, merged)
    for slot in merged.slots:
        if slot.ours is not None and slot.ours in merged.jobs:
            job = merged.jobs[slot.ours]
            parts.append(_job(job))
            parts += _rows(job.rows, job.ours.name, merged) if job.rows else ()
        elif slot.state in ("added", "lost-by-ours"):
            parts += _without_counterpart(slot, merged)
        elif slot.state == "removed":
            parts.append(_removed(merged.old.jobs[_index(slot.before)]))
        elif merged.kept_for_its_list(slot):
            gone = merged.old.jobs[_index(slot.before)]
            lost = (Unplaced(gone.name, "removed", node.row, EDITED) for node in gone.rows.nodes)
            parts.append(MatrixDelta(unplaced=tuple(lost)))
    return combined(parts)


def _job(job: JobMerge) -> MatrixDelta:
    if job.renamed:
        return MatrixDelta(jobs=(JobChange("renamed", job.ours.name, job.after.name),))
    if job.before.node is None or job.after.node is None:
        return MatrixDelta()
    before, after = job.before.node.job, job.after.node.job
    if (before.options, before.form) == (after.options, after.form):
        return MatrixDelta()
    return MatrixDelta(jobs=(JobChange("changed", job.ours.name, job.ours.name),))


def _rows(rows: MergedRows, name: str, merged: MatrixMerge) -> Iterator[MatrixDelta]:
    cells = {span: iter(of) for span, of in rows.lists.items()}
    for slot, span in rows.slots:
        cell = next(cells[span]) if slot.state not in ("removed", "lost-by-ours") else None
        if span in merged.disputed and slot.state in KINDS:
            yield _unplaced(slot, rows, name, SHARED)
        else:
            yield _row(slot, rows, merged.users.get(span, name), cell)
    placed = {slot.after for slot, _ in rows.slots}
    for at in range(len(rows.after.nodes)):
        if at not in placed:
            yield _elsewhere(rows.after, at, name, merged)


def _row(slot: Slot, rows: MergedRows, job: str, cell: CellViews | None) -> MatrixDelta:
    before, after = _at(rows.before, slot.before), _at(rows.after, slot.after)
    if slot.state == "lost-by-ours":
        return _unplaced(slot, rows, job, NO_ROW)
    if cell is not None and not cell.base == cell.ours == cell.theirs:
        return MatrixDelta()
    if slot.state in ("changed", "present") and slot.ours is not None and slot.after is not None and after:
        differs = rows.ours.items[slot.ours].key != rows.after.items[slot.after].key
        if slot.state == "present" or not differs:
            return MatrixDelta(present=(Present(job, job, after, differs),))
        return MatrixDelta(changed=(RowChange(job, before, after),))
    if slot.state == "added":
        return MatrixDelta(added=(RowChange(job, None, after),))
    if slot.state == "removed":
        return MatrixDelta(removed=(RowChange(job, before, None),))
    return MatrixDelta(moved=(RowChange(job, before, after),)) if slot.moved else MatrixDelta()


def _elsewhere(after: Rows, at: int, job: str, merged: MatrixMerge) -> MatrixDelta:
    """A row whose test the fork runs in another job already."""
    item = after.items[at]
    for known in merged.mine.jobs:
        for row in known.rows.items:
            if row.kin == item.kin:
                return MatrixDelta(present=(Present(known.name, job, after.nodes[at].row, row.key != item.key),))
    return MatrixDelta()


def _without_counterpart(slot: Slot, merged: MatrixMerge) -> Iterator[MatrixDelta]:
    """A job that upstream adds, or one that it changes while the fork lacks it."""
    after = merged.new.jobs[_index(slot.after)]
    if slot.state == "added" and after.node:
        yield MatrixDelta(jobs=(JobChange("added", after.name, after.name),))
        own = (row for name, row in _with_list(after) if name is None or name not in merged.mine.lists)
        yield MatrixDelta(added=tuple(RowChange(after.name, None, row) for row in own))
        return
    gone = merged.old.jobs[slot.before] if slot.before is not None else None
    before = gone.rows if gone else replace(after.rows, nodes=())
    rows = [_lost(change, before, after, merged) for change in merge(before.items, before.items, after.rows.items)]
    if any(part.unplaced for part in rows) or (gone and gone.options != after.options):
        yield MatrixDelta(missing_jobs=(after.name,))
    yield from rows


def _with_list(job: JobSide) -> Iterator[tuple[str | None, Row]]:
    """A job's rows, each with the name of the shared list that it stands in."""
    own = {(node.seq.start, node.at) for node in job.own_rows.nodes}
    names = [part.removeprefix("list ") for part in job.form if part != "inline"]
    for node in job.rows.nodes:
        yield (None if (node.seq.start, node.at) in own else names[0] if names else None), node.row


def _lost(slot: Slot, before: Rows, after: JobSide, merged: MatrixMerge) -> MatrixDelta:
    """A row of a job that the fork lacks: told of, unless the fork runs it elsewhere or it is gone on both sides."""
    if slot.state == "added":
        found = _elsewhere(after.rows, _index(slot.after), after.name, merged)
        if found.present:
            return found
    if slot.state == "removed":
        kin = before.items[_index(slot.before)].kin
        if not any(known.kin == kin for job in merged.mine.jobs for known in job.rows.items):
            return MatrixDelta()
    row = _at(after.rows, slot.after) or _at(before, slot.before)
    if slot.state not in KINDS or row is None:
        return MatrixDelta()
    return MatrixDelta(unplaced=(Unplaced(after.name, KINDS[slot.state], row, f"the fork has no job {after.name}"),))


def _removed(job: JobSide) -> MatrixDelta:
    rows = tuple(RowChange(job.name, node.row, None) for node in job.own_rows.nodes)
    return MatrixDelta(removed=rows, jobs=(JobChange("removed", job.name, job.name),))


def _unplaced(slot: Slot, rows: MergedRows, job: str, why: str) -> MatrixDelta:
    row = _at(rows.after, slot.after) or _at(rows.before, slot.before)
    if slot.state not in KINDS or row is None:
        return MatrixDelta()
    return MatrixDelta(unplaced=(Unplaced(job, KINDS[slot.state], row, why),))


def _at(rows: Rows, at: int | None) -> Row | None:
    return None if at is None else rows.nodes[at].row


def _index(at: int | None) -> int:
    assert at is not None
    return at
