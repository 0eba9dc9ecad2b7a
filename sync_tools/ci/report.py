"""What a matrix merge did, as a delta: each row once, and whatever found no place."""

from collections.abc import Iterator

from sync_tools.ci.delta import JobChange, MatrixDelta, Present, RowChange, Unplaced, combined
from sync_tools.ci.jobs import JobMerge, MatrixMerge
from sync_tools.ci.matrix import Row
from sync_tools.ci.rows import Rows
from sync_tools.ci.sequence import Slot, merge
from sync_tools.ci.sides import JobSide
from sync_tools.ci.views import CellViews, Span

SHARED = "the fork's list serves other jobs too, for which upstream did not change it"
NO_ROW = "the fork has no such row in this job"


def report(merged: MatrixMerge) -> MatrixDelta:
    """The delta of a merge; rows of a list that several jobs share are told of once."""
    told: set[Span] = set()
    parts: list[MatrixDelta] = []
    for slot in merged.slots:
        job = merged.jobs.get(slot.ours) if slot.ours is not None else None
        if job is not None:
            parts += [_job(job), *_rows(job, merged, frozenset(told))]
            told |= set(job.rows.lists) if job.rows else set()
        elif slot.state in ("added", "lost-by-ours"):
            parts += _without_counterpart(slot, merged)
        elif slot.state == "removed":
            parts.append(_removed(merged.old[_index(slot.before)]))
    return combined(parts)


def _job(job: JobMerge) -> MatrixDelta:
    if job.renamed:
        return MatrixDelta(jobs=(JobChange("renamed", job.ours.name, job.after.name),))
    before, after = (
        (side.node.job.options, side.node.job.form) if side.node else None for side in (job.before, job.after)
    )
    if None in (before, after) or before == after:
        return MatrixDelta()
    return MatrixDelta(jobs=(JobChange("changed", job.ours.name, job.ours.name),))


def _rows(job: JobMerge, merged: MatrixMerge, told: frozenset[Span]) -> Iterator[MatrixDelta]:
    if job.rows is None:
        return
    views = {span: iter(cells) for span, cells in job.rows.lists.items()}
    for slot, span in job.rows.slots:
        cell = next(views[span]) if slot.state not in ("removed", "lost-by-ours") else None
        if span in merged.disputed:
            yield _unplaced(slot, job, SHARED)
        elif span not in told:
            yield _row(slot, job, cell)
    yield from _elsewhere(job, merged)


def _row(slot: Slot, job: JobMerge, cell: CellViews | None) -> MatrixDelta:
    name = job.ours.name
    before, ours, after = (_at(side.rows, at) for side, at in zip(_sides(job), _indices(slot), strict=True))
    if slot.state == "lost-by-ours":
        return _unplaced(slot, job, NO_ROW)
    if cell is not None and not cell.base == cell.ours == cell.theirs:
        return MatrixDelta()
    if slot.state == "added":
        return MatrixDelta(added=(RowChange(name, None, after),))
    if slot.state == "removed":
        return MatrixDelta(removed=(RowChange(name, before, None),))
    if slot.state == "changed" and before and ours and after:
        if job.ours.rows.item(ours) == job.after.rows.item(after):
            return MatrixDelta(present=(Present(name, job.after.name, after, differs=False),))
        return MatrixDelta(changed=(RowChange(name, before, after),))
    if slot.state == "present" and ours and after:
        differs = job.ours.rows.item(ours).key != job.after.rows.item(after).key
        return MatrixDelta(present=(Present(name, job.after.name, after, differs),))
    return MatrixDelta(moved=(RowChange(name, before, after),)) if slot.moved else MatrixDelta()


def _elsewhere(job: JobMerge, merged: MatrixMerge) -> Iterator[MatrixDelta]:
    """Rows that were not added because the fork runs their test in another job."""
    assert job.rows is not None
    placed = {slot.after for slot, _ in job.rows.slots}
    upstream = {slot.after for slot in merge(job.before.rows.items, job.before.rows.items, job.after.rows.items)}
    for at in sorted(a for a in upstream - placed if a is not None):
        yield _present_elsewhere(job.after, at, merged)


def _present_elsewhere(after: JobSide, at: int, merged: MatrixMerge) -> MatrixDelta:
    item = after.rows.items[at]
    for job in merged.mine:
        for known in job.rows.items:
            if known.kin == item.kin:
                row = after.rows.nodes[at].row
                return MatrixDelta(present=(Present(job.name, after.name, row, known.key != item.key),))
    return MatrixDelta()


def _without_counterpart(slot: Slot, merged: MatrixMerge) -> Iterator[MatrixDelta]:
    """A job that upstream adds, or changes while the fork lacks it."""
    after = merged.new[_index(slot.after)]
    if slot.state == "added" and after.node:
        yield MatrixDelta(jobs=(JobChange("added", after.name, after.name),))
        yield MatrixDelta(added=tuple(RowChange(after.name, None, node.row) for node in after.rows.nodes))
        return
    before = (
        merged.old[slot.before].rows if slot.before is not None else Rows(after.rows.template, (), after.rows.rename)
    )
    rows = [_lost(change, before, after, merged) for change in merge(before.items, before.items, after.rows.items)]
    options_changed = slot.before is not None and merged.old[slot.before].item.key[0] != after.item.key[0]
    if options_changed or any(part.unplaced for part in rows):
        yield MatrixDelta(missing_jobs=(after.name,))
    yield from rows


def _lost(slot: Slot, before: Rows, after: JobSide, merged: MatrixMerge) -> MatrixDelta:
    """A row of a job that the fork lacks."""
    why = f"the fork has no job {after.name}"
    if slot.state == "added":
        found = _present_elsewhere(after, _index(slot.after), merged)
        return (
            found
            if found.present
            else MatrixDelta(unplaced=(Unplaced(after.name, "added", after.rows.nodes[_index(slot.after)].row, why),))
        )
    if slot.state == "changed":
        return MatrixDelta(unplaced=(Unplaced(after.name, "changed", after.rows.nodes[_index(slot.after)].row, why),))
    if slot.state == "removed":
        item = before.items[_index(slot.before)]
        if any(known.kin == item.kin for job in merged.mine for known in job.rows.items):
            row = before.nodes[_index(slot.before)].row
            return MatrixDelta(unplaced=(Unplaced(after.name, "removed", row, why),))
    return MatrixDelta()


def _removed(job: JobSide) -> MatrixDelta:
    entry = job.node.entry if job.node else None
    own = [n.row for n in job.rows.nodes if entry and entry.start <= n.seq.start < entry.end]
    return MatrixDelta(
        removed=tuple(RowChange(job.name, row, None) for row in own), jobs=(JobChange("removed", job.name, job.name),)
    )


def _unplaced(slot: Slot, job: JobMerge, why: str) -> MatrixDelta:
    kinds = {"added": "added", "changed": "changed", "removed": "removed", "lost-by-ours": "changed"}
    row = _at(job.after.rows, slot.after) or _at(job.before.rows, slot.before)
    if slot.state not in kinds or row is None:
        return MatrixDelta()
    return MatrixDelta(unplaced=(Unplaced(job.ours.name, kinds[slot.state], row, why),))  # type: ignore[arg-type]


def _sides(job: JobMerge) -> tuple[JobSide, JobSide, JobSide]:
    return job.before, job.ours, job.after


def _indices(slot: Slot) -> tuple[int | None, int | None, int | None]:
    return slot.before, slot.ours, slot.after


def _at(rows: Rows, at: int | None) -> Row | None:
    return None if at is None else rows.nodes[at].row


def _index(at: int | None) -> int:
    assert at is not None
    return at
