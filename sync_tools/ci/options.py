"""The three-way merge of an options dict (a row's, or a job's but for its tests), written in ours' style."""

from collections.abc import Mapping
from dataclasses import dataclass

from sync_tools.ci.cells import Cell, Cells, fitted, split
from sync_tools.ci.literal import Entry, Map
from sync_tools.ci.matrix import TESTS, Template
from sync_tools.ci.sequence import Item, Slot, merge
from sync_tools.ci.views import CellViews, Views, weave


@dataclass(frozen=True)
class Options:
    """A dict in a template, cut into cells."""

    template: Template
    node: Map
    cells: Cells
    items: tuple[Item, ...]

    @classmethod
    def of(cls, template: Template, node: Map, *, but: str = "") -> "Options":
        """`but` names an entry whose value is merged by its own rules, so that it counts as equal everywhere."""
        items = (cls._item(template, entry, but) for entry in node.items)
        return cls(template, node, split(template.text, node), tuple(items))

    @staticmethod
    def _item(template: Template, entry: Entry, but: str) -> Item:
        name = template.word(entry.key)
        return Item((name, "" if name == but else template.shown(entry.value)), name)

    def with_value(self, at: int, value: str) -> str:
        """The entry's text with another value."""
        entry = self.node.items[at]
        return self.template.text[entry.start : entry.value.start] + value

    def tests(self, target: "Options") -> str:
        """The text of the entry that holds the rows, in the style of another dict."""
        at = next(i for i, item in enumerate(self.items) if item.kin == TESTS)
        return fitted(self.cells.cells[at], self.cells, target.cells, "\n").item

    def value(self, at: int) -> str:
        return self.template.source(self.node.items[at].value)


def merge_options(before: Options, ours: Options, after: Options, rewritten: Mapping[int, Views]) -> Views:
    """The merged dict; `rewritten` has the text of entries of ours whose value was merged already."""
    cells: list[CellViews] = []
    for slot in merge(before.items, ours.items, after.items):
        if slot.state != "removed":
            cells.append(_cell(slot, before, ours, after, rewritten))
    return weave(ours.cells, cells)


def _cell(slot: Slot, before: Options, ours: Options, after: Options, rewritten: Mapping[int, Views]) -> CellViews:
    base = _fitted(before, slot.before, ours)
    mine = None if slot.ours is None else ours.cells.cells[slot.ours]
    theirs = _fitted(after, slot.after, ours)
    if mine is None:
        return CellViews.same(theirs) if slot.state == "added" and theirs else CellViews(base, None, theirs)
    assert slot.ours is not None
    if slot.ours in rewritten:
        return CellViews.rewritten(mine, rewritten[slot.ours])
    if slot.state == "kept" or (slot.after is not None and ours.items[slot.ours].key == after.items[slot.after].key):
        return CellViews.same(mine)
    if slot.state == "changed":
        assert slot.before is not None and slot.after is not None
        new = ours.with_value(slot.ours, after.value(slot.after))
        if ours.items[slot.ours].key == before.items[slot.before].key:
            return CellViews.rewritten(mine, Views.same(new))
        return CellViews.rewritten(mine, Views(ours.with_value(slot.ours, before.value(slot.before)), mine.item, new))
    return CellViews(base, mine, theirs)


def _fitted(side: Options, at: int | None, ours: Options) -> Cell | None:
    newline = "\r\n" if "\r\n" in ours.template.text else "\n"
    return None if at is None else fitted(side.cells.cells[at], side.cells, ours.cells, newline)
