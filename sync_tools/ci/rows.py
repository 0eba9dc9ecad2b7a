"""The three-way merge of one job's rows, which may stand in several lists, each perhaps shared with other jobs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from sync_tools.ci.cells import Cell, Cells, fitted, split
from sync_tools.ci.literal import Map, Seq
from sync_tools.ci.matrix import TEST_FILE, Row, RowNode, Template
from sync_tools.ci.options import Options, merge_options
from sync_tools.ci.sequence import Item, Slot, merge
from sync_tools.ci.views import CellViews, Span, Views, weave

Rename = Callable[[str], str]


@dataclass(frozen=True)
class Rows:
    """One side's rows of a job. Names are compared as `rename` writes them, so that an old name is no difference."""

    template: Template
    nodes: tuple[RowNode, ...]
    rename: Rename = field(compare=False)

    @cached_property
    def items(self) -> tuple[Item, ...]:
        return tuple(self.item(node.row) for node in self.nodes)

    @cached_property
    def lists(self) -> dict[Span, Cells]:
        """The lists in which the rows stand, in order, cut into cells."""
        seqs = {(node.seq.start, node.seq.end): node.seq for node in self.nodes}
        return {span: split(self.template.text, seq) for span, seq in seqs.items()}

    def item(self, row: Row) -> Item:
        name = self.rename(row.test_file)
        return Item(frozenset((k, name if k == TEST_FILE else v) for k, v in row.options), name)

    def cell(self, at: int) -> Cell:
        node = self.nodes[at]
        return self.lists[node.seq.start, node.seq.end].cells[node.at]

    def fitted(self, at: int, target: Cells, newline: str) -> Cell:
        node = self.nodes[at]
        source = self.lists[node.seq.start, node.seq.end]
        return fitted(source.cells[node.at], source, target, newline)


@dataclass(frozen=True)
class MergedRows:
    """Each slot with the list of ours that it stands in. `original` are those lists, `lists` their cells after the merge."""

    before: Rows
    ours: Rows
    after: Rows
    slots: tuple[tuple[Slot, Span], ...]
    original: Mapping[Span, Cells]
    lists: Mapping[Span, tuple[CellViews, ...]]


def merge_rows(before: Rows, ours: Rows, after: Rows, home: Seq | None, elsewhere: frozenset[str]) -> MergedRows:
    """Upstream's change to a sequence of rows, made to ours. `home` is the list that takes rows where ours has none to
    stand beside; rows of `elsewhere` are not added."""
    slots = [
        slot
        for slot in merge(before.items, ours.items, after.items)
        if not (slot.state == "added" and _at(after.items, slot.after).kin in elsewhere)
    ]
    original = dict(ours.lists)
    if home is not None and not home.items:
        original[home.start, home.end] = split(ours.template.text, home)
    default = (home.start, home.end) if home else next(iter(original), (0, 0))
    placed = tuple(zip(slots, _spans(slots, ours, default), strict=True))
    cells: dict[Span, list[CellViews]] = {span: [] for span in original}
    for slot, span in placed:
        if slot.state not in ("removed", "lost-by-ours"):
            cells[span].append(_cell(slot, before, ours, after, original[span]))
    return MergedRows(before, ours, after, placed, original, {span: tuple(of) for span, of in cells.items()})


def without_rows(template: Template, rows: Sequence[RowNode]) -> dict[Span, Views]:
    """The lists that the rows stand in, without them."""
    gone = {(node.seq.start, node.at) for node in rows}
    edits: dict[Span, Views] = {}
    for seq in {(node.seq.start, node.seq.end): node.seq for node in rows}.values():
        cells = split(template.text, seq)
        kept = [CellViews.same(cell) for at, cell in enumerate(cells.cells) if (seq.start, at) not in gone]
        edits[seq.start, seq.end] = weave(cells, kept)
    return edits


def _spans(slots: Sequence[Slot], ours: Rows, home: Span) -> list[Span]:
    """The list of each slot: its own where ours has it and it stays, else that of the row before it, else after it."""
    own = [
        None if s.ours is None or s.moved else (ours.nodes[s.ours].seq.start, ours.nodes[s.ours].seq.end) for s in slots
    ]
    known = next((span for span in own if span), home)
    spans = []
    for span in own:
        known = span or known
        spans.append(known)
    return spans


def _cell(slot: Slot, before: Rows, ours: Rows, after: Rows, target: Cells) -> CellViews:
    newline = "\r\n" if "\r\n" in ours.template.text else "\n"
    base = None if slot.before is None else before.fitted(slot.before, target, newline)
    theirs = None if slot.after is None else after.fitted(slot.after, target, newline)
    if slot.ours is None:
        return CellViews.same(theirs) if slot.state == "added" and theirs else CellViews(base, None, theirs)
    mine = ours.cell(slot.ours)
    if slot.state == "kept-by-ours":
        return CellViews(base, mine, theirs)
    if slot.before is None or slot.after is None or before.nodes[slot.before].row == after.nodes[slot.after].row:
        return CellViews.same(mine)
    sides = [
        (side.template, side.nodes[at].node) for side, at in zip((before, ours, after), _indices(slot), strict=True)
    ]
    if not all(isinstance(node, Map) for _, node in sides):
        return CellViews(base, mine, theirs)
    options = [Options.of(template, node) for template, node in sides if isinstance(node, Map)]
    return CellViews.rewritten(mine, merge_options(*options, rewritten={}))


def _indices(slot: Slot) -> tuple[int, int, int]:
    assert slot.before is not None and slot.ours is not None and slot.after is not None
    return slot.before, slot.ours, slot.after


def _at(items: Sequence[Item], at: int | None) -> Item:
    assert at is not None
    return items[at]
