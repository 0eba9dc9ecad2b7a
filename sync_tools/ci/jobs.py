"""What upstream's change of the matrix means for the fork's: decided for each job and each shared list.

A list that both sides have under one name is merged as a list, whoever uses it. A job whose rows are written alike on all
sides is merged in the rows that it has for itself. Any other job is merged in all its rows, wherever the fork keeps them;
two that want a shared list otherwise leave it as it is, and what they wanted is told.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from sync_tools.ci.literal import Name, Node, Seq, Sum
from sync_tools.ci.matrix import TESTS, JobNode, Template
from sync_tools.ci.rows import MergedRows, Rename, merge_rows
from sync_tools.ci.sequence import Slot, merge
from sync_tools.ci.sides import JobSide, Side, sides
from sync_tools.ci.views import CellViews, Span
from sync_tools.config import Place


@dataclass(frozen=True)
class JobMerge:
    """A job that ours has and upstream has after the change. `rows` None: some of its rows are computed. `reformed`:
    upstream writes its rows in another way now (a shared list, say) and ours is as upstream's was, so that the new way
    is taken over."""

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
    """All that is decided, before any text is written: `slots` are the jobs in their order, `jobs` those that ours
    and upstream have (by their index in ours), `lists` the shared lists that both have."""

    old: Side
    mine: Side
    new: Side
    slots: tuple[Slot, ...]
    jobs: Mapping[int, JobMerge]
    lists: Mapping[str, MergedRows]

    def rows(self) -> Iterator[MergedRows]:
        """Every decision about rows that ours' lists are written from."""
        yield from self.lists.values()
        yield from (job.rows for job in self.jobs.values() if job.rows and not job.reformed)

    @cached_property
    def disputed(self) -> frozenset[Span]:
        """Lists of ours that are wanted in more than one way."""
        wanted: dict[Span, set[tuple[CellViews, ...]]] = defaultdict(set)
        for rows in self.rows():
            for span, cells in rows.lists.items():
                wanted[span].add(cells)
        return frozenset(span for span, cells in wanted.items() if len(cells) > 1)

    def kept_for_its_list(self, slot: Slot) -> bool:
        """Whether ours keeps a job that upstream removed, because of what stands in a list that it shares: the job's own
        text is as upstream's was, so that no text merge would see the difference."""
        if slot.state != "kept-by-ours" or slot.before is None or slot.ours is None:
            return False
        before, ours = self.old.jobs[slot.before], self.mine.jobs[slot.ours]
        same = (before.options, before.form) == (ours.options, ours.form)
        return same and before.own_rows.items == ours.own_rows.items

    @cached_property
    def users(self) -> dict[Span, str]:
        """The first job of ours that has a list's rows."""
        users: dict[Span, str] = {}
        for job in self.mine.jobs:
            for span in job.rows.lists:
                users.setdefault(span, job.name)
        return users


def merge_matrices(
    before: Template, ours: Template, after: Template, rename: Rename, places: Sequence[Place]
) -> MatrixMerge:
    """Upstream's change of the matrix, brought to the fork's."""
    old, mine, new = sides(before, ours, after, rename, places)
    slots = merge(*([job.item for job in side.jobs] for side in (old, mine, new)))
    elsewhere = _landed_elsewhere(old, mine, new)
    lists = {
        name: merge_rows(old.lists.get(name, replace(theirs, nodes=())), mine.lists[name], theirs, None, elsewhere)
        for name, theirs in new.lists.items()
        if name in mine.lists
    }
    both = {slot.ours: slot for slot in slots if slot.ours is not None and slot.after is not None}
    jobs = {at: _job(slot, old, mine, new, elsewhere) for at, slot in both.items()}
    return MatrixMerge(old, mine, new, tuple(slots), jobs, lists)


def _job(slot: Slot, old: Side, mine: Side, new: Side, elsewhere: frozenset[str]) -> JobMerge:
    assert slot.ours is not None and slot.after is not None
    ours, after = mine.jobs[slot.ours], new.jobs[slot.after]
    missing = replace(after, node=None, rows=replace(after.rows, nodes=()))
    before = missing if slot.before is None else old.jobs[slot.before]
    three = (before, ours, after)
    if any(job.opaque for job in three):
        return JobMerge(slot, *three, None, False)
    written_as_upstream = not any(job.relocated for job in three) and before.form == ours.form
    if written_as_upstream and before.form != after.form and before.rows.items == ours.rows.items:
        return JobMerge(slot, *three, merge_rows(before.rows, ours.rows, after.rows, _home(ours), elsewhere), True)
    if written_as_upstream and ours.form == after.form:
        own = [job.own_rows for job in three]
        return JobMerge(slot, *three, merge_rows(*own, _own_home(ours), elsewhere), False)
    target = _home(ours)
    rows = merge_rows(before.rows, ours.rows, after.rows, target, elsewhere) if target else None
    return JobMerge(slot, *three, rows, False)


def _landed_elsewhere(old: Side, mine: Side, new: Side) -> frozenset[str]:
    """Tests that are new upstream and that the fork runs already, in a job where upstream does not run them."""
    known = {item.kin for job in old.jobs for item in job.rows.items}
    upstream = {(job.kin, item.kin) for job in new.jobs for item in job.rows.items}
    return frozenset(
        str(item.kin)
        for job in mine.jobs
        for item in job.rows.items
        if item.kin not in known and (job.kin, item.kin) not in upstream
    )


def home(template: Template, job: JobNode) -> Seq | None:
    """The list that takes a job's new rows: the one of its last row, or the last that it names."""
    if job.rows:
        return job.rows[-1].seq
    tests = _tests(template, job)
    return _last_list(template, tests) if tests else None


def _home(job: JobSide) -> Seq | None:
    return home(job.rows.template, job.node) if job.node else None


def _own_home(job: JobSide) -> Seq | None:
    """The last list that is written in the job itself."""
    tests = _tests(job.rows.template, job.node) if job.node else None
    parts = tests.parts if isinstance(tests, Sum) else (tests,)
    return next((part for part in reversed(parts) if isinstance(part, Seq)), None)


def _tests(template: Template, job: JobNode) -> Node | None:
    return next((e.value for e in job.body.items if template.word(e.key) == TESTS), None)


def _last_list(template: Template, node: Node) -> Seq | None:
    if isinstance(node, Sum):
        return next((seq for part in reversed(node.parts) if (seq := _last_list(template, part))), None)
    if isinstance(node, Name):
        block = next((b for b in template.lists if b.name == node.id), None)
        return _last_list(template, block.value) if block else None
    return node if isinstance(node, Seq) else None
