"""Three-way merge of Python code by definition.

What moved, was renamed, or stands beside a deletion is merged with itself and not with what happens to stand there.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from sync_tools.merge.imports import Statement, merge_imports, statements
from sync_tools.merge.items import IMPORTS, TAIL, Item, class_items, is_open_class
from sync_tools.merge.lines import Span, newline
from sync_tools.merge.markers import Clash, Clean, Segment, disputed
from sync_tools.merge.order import merge_order
from sync_tools.merge.pairing import pair
from sync_tools.merge.python import merge_spans
from sync_tools.merge.resolve import Sides
from sync_tools.merge.result import Conflict
from sync_tools.merge.source import Source
from sync_tools.merge.units import Unit, commute

Items = Sequence[Item]
Id = Hashable


@dataclass(frozen=True, slots=True)
class Slot:
    """One item as each version has it."""

    base: Item | None = None
    ours: Item | None = None
    theirs: Item | None = None

    @property
    def item(self) -> Item:
        found = self.ours or self.theirs or self.base
        assert found is not None
        return found


def merge_definitions(sides: Sides) -> list[Segment] | None:
    """None where it is not certain which definition is which."""
    parts = _scope(sides, sides.base.items, sides.ours.items, sides.theirs.items)
    return None if parts is None else _ended(_topped(sides, parts), newline(sides.ours.lines))


def _scope(sides: Sides, base: Items, ours: Items, theirs: Items) -> list[Segment] | None:
    """Merges the items of a module or of a class."""
    if any(_tangled(items) for items in (base, ours, theirs)):
        return None
    paired = _slots(sides, base, ours, theirs)
    if paired is None:
        return None
    slots, orders = paired
    parts = {n: _merged(sides, slot) or _disputed(sides, slots, orders, n) for n, slot in slots.items()}
    alive = [[n for n in order if parts[n]] for order in orders]
    order = merge_order(
        *alive, lambda n: slots[n].item.end - slots[n].item.code, lambda a, b: _sorts(slots[a], slots[b])
    )
    order.sort(key=lambda n: slots[n].item.key == TAIL)
    if not _independent(sides, [slots[n] for n in order]):
        return None
    return [part for n in order for part in parts[n]]


def _tangled(items: Items) -> bool:
    """Whether two statements share a line."""
    return any(item.code < item.start for item in items)


def _slots(sides: Sides, base: Items, ours: Items, theirs: Items) -> tuple[dict[Id, Slot], list[list[Id]]] | None:
    """Slots by id, and the order of the ids in each version."""
    slots: dict[Id, Slot] = {n: Slot(base=item) for n, item in enumerate(base)}
    orders: list[list[Id]] = [list(slots), [], []]
    for order, side, items, source in (
        (orders[1], "ours", ours, sides.ours),
        (orders[2], "theirs", theirs, sides.theirs),
    ):
        pairs = pair(base, sides.base.lines, items, source.lines)
        if pairs is None:
            return None
        for n, item in enumerate(items):
            key: Id = pairs.get(n, item.identity)
            known = slots.get(key, Slot())
            slots[key] = Slot(known.base, item if side == "ours" else known.ours, item if side == "theirs" else None)
            order.append(key)
    return slots, orders


def _merged(sides: Sides, slot: Slot) -> list[Segment]:
    """What becomes of one item; nothing where it is deleted, or where one side deleted what the other changed."""
    if slot.ours and slot.theirs:
        return _both(sides, slot)
    kept, source = (slot.ours, sides.ours) if slot.ours else (slot.theirs, sides.theirs)
    if kept is None or slot.base is None:
        return [Clean(source.lines[kept.start : kept.end])] if kept else []
    lines = _names_left(sides, slot)
    return [Clean([*source.lines[kept.start : kept.code], *lines])] if lines else []


def _disputed(sides: Sides, slots: dict[Id, Slot], orders: list[list[Id]], n: Id) -> list[Segment]:
    """The conflict where one side deleted what the other changed; the deleting side's range is empty, where it stood."""
    slot = slots[n]
    kept, source = (slot.ours, sides.ours) if slot.ours else (slot.theirs, sides.theirs)
    if kept is None or slot.base is None or _code(sides.base, slot.base) == _code(source, kept):
        return []
    if _names_left(sides, slot) == [] and not _remarks(source, kept) - _remarks(sides.base, slot.base):
        return []  # an import that one side deleted, and of which the other changed names alone
    spans = _spans(slot)
    side = 1 if slot.ours is None else 2
    above = (_items(slots[m])[side] for m in reversed(orders[0][: orders[0].index(n)]))
    at = next((item.end for item in above if item), 0)
    base, ours, theirs = _texts(sides, spans)
    spans[side] = (at, at)
    return [Clash(Conflict(slot.item.symbol, *spans), ours, base, theirs)]


def _names_left(sides: Sides, slot: Slot) -> list[bytes] | None:
    """What is left of an import that one side deleted; None where that is unclear, or it is no import."""
    found = [item for item in _items(slot) if item]
    if not all(isinstance(item.node, IMPORTS) for item in found):
        return None
    return merge_imports(*(_imports(source, item) for source, item in zip(_sources(sides), _items(slot))))


def _remarks(source: Source, item: Item) -> set[bytes]:
    """The lines of an item that hold comments: no merge of names keeps them."""
    return {line for line in source.lines[item.start : item.end] if b"#" in line}


def _imports(source: Source, item: Item | None) -> list[Statement]:
    return statements(source, [replace(_unit(source, item), lead=item.code)]) if item else []


def _both(sides: Sides, slot: Slot) -> list[Segment]:
    assert slot.ours and slot.theirs
    spans = _spans(slot)
    base, ours, theirs = _texts(sides, spans)
    if ours == theirs or theirs == base:
        return [Clean(ours)]
    parts = merge_spans(sides, *spans)
    if disputed(parts) and all(
        item is None or is_open_class(item.node) for item in (slot.base, slot.ours, slot.theirs)
    ):
        inner = _class(sides, slot)
        if inner is not None and disputed(inner) <= disputed(parts):
            return inner
    return parts


def _class(sides: Sides, slot: Slot) -> list[Segment] | None:
    headers: list[Span] = []
    bodies: list[Items] = []
    for source, item in zip(_sources(sides), _items(slot)):
        end, items = class_items(item, source.lines) if item else (0, [])
        headers.append((item.start if item else 0, end))
        bodies.append(items)
    body = _scope(sides, *bodies)
    return None if body is None else [*merge_spans(sides, *headers), *body]


def _spans(slot: Slot) -> list[Span]:
    return [(item.start, item.end) if item else (0, 0) for item in _items(slot)]


def _items(slot: Slot) -> tuple[Item | None, Item | None, Item | None]:
    return slot.base, slot.ours, slot.theirs


def _sources(sides: Sides) -> tuple[Source, Source, Source]:
    return sides.base, sides.ours, sides.theirs


def _texts(sides: Sides, spans: Sequence[Span]) -> list[Sequence[bytes]]:
    return [source.lines[slice(*span)] for source, span in zip(_sources(sides), spans)]


def _code(source: Source, item: Item) -> list[bytes]:
    return [line for line in source.lines[item.start : item.end] if line.strip()]


def _sorts(new: Slot, present: Slot) -> bool:
    """Whether an import of theirs stands before one of ours at the same place."""
    a, b = new.item, present.item
    if not (isinstance(a.node, IMPORTS) and isinstance(b.node, IMPORTS)):
        return False
    return (a.key[0] == "from", a.key[1].lower()) < (b.key[0] == "from", b.key[1].lower())


def _independent(sides: Sides, order: Sequence[Slot]) -> bool:
    """Whether what both sides inserted at one place may stand in either order."""
    for new, run in groupby(order, lambda slot: slot.base is None and not (slot.ours and slot.theirs)):
        if not new:
            continue
        slots = [slot for slot in run if slot.item.key != TAIL]
        ours = [_unit(sides.ours, slot.ours) for slot in slots if slot.ours]
        theirs = [_unit(sides.theirs, slot.theirs) for slot in slots if slot.theirs]
        if ours and theirs and not commute(ours, theirs):
            return False
    return True


def _unit(source: Source, item: Item) -> Unit:
    return Unit(item.start, item.code, item.end, source.leaf(min(item.code, len(source.lines) - 1)))


def _topped(sides: Sides, parts: list[Segment]) -> list[Segment]:
    """A file that did not start with a blank line does not begin to."""
    first = parts[0] if parts else None
    if not isinstance(first, Clean) or not sides.ours.lines or not sides.ours.lines[0].strip():
        return parts
    lines = list(first.lines)
    while lines and not lines[0].strip():
        lines.pop(0)
    return [Clean(lines), *parts[1:]]


def _ended(parts: list[Segment], ending: bytes) -> list[Segment]:
    """Every line but the file's last is ended."""
    result: list[Segment] = []
    for n, part in enumerate(parts):
        if isinstance(part, Clean) and n < len(parts) - 1 and part.lines and not part.lines[-1].endswith(b"\n"):
            part = Clean([*part.lines[:-1], part.lines[-1] + ending])
        result.append(part)
    return result
