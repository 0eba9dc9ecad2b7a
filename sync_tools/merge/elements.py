"""Three-way merge of the elements of one literal, call, signature or import, each on lines of its own."""

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from sync_tools.merge.source import Source
from sync_tools.merge.units import Unit


@dataclass(frozen=True, slots=True)
class Element:
    """`key` is what must not occur twice; `lines` include the comments above; `code` is the element without its comma."""

    key: str
    code: bytes
    lines: tuple[bytes, ...]
    comma: int
    """Where the comma is, or would be, in the last line."""

    def ended(self) -> tuple[bytes, ...]:
        """Its lines with a comma."""
        last = self.lines[-1]
        if last[self.comma : self.comma + 1] == b",":
            return self.lines
        return (*self.lines[:-1], last[: self.comma] + b"," + last[self.comma :])


def elements(source: Source, found: Sequence[Unit]) -> list[Element]:
    return [_element(source, unit) for unit in found]


def merge_elements(base: list[Element], ours: list[Element], theirs: list[Element]) -> list[bytes] | None:
    """Ours with what theirs added, after the element it follows there, changed, and removed. None where both changed
    one element, where one changed what the other removed, or where an element occurs twice."""
    b, o, t = ({e.key: e for e in side} for side in (base, ours, theirs))
    if any(len(d) != len(side) for d, side in ((b, base), (o, ours), (t, theirs))):
        return None
    result: list[Element] = []
    for element in ours:
        kept = _kept(b.get(element.key), element, t.get(element.key))
        if kept is None:
            return None
        result.extend(kept)
    if any(k not in o and k in t and t[k].code != b[k].code for k in b):
        return None
    for n, element in enumerate(theirs):
        if element.key not in b and element.key not in o:
            above = {e.key for e in theirs[:n]}
            at = max((i + 1 for i, e in enumerate(result) if e.key in above), default=0)
            while at < len(result) and result[at].key not in b and result[at].key not in t:
                at += 1
            result.insert(at, element)
    return [line for n, e in enumerate(result) for line in (e.lines if n == len(result) - 1 else e.ended())]


def _kept(base: Element | None, ours: Element, theirs: Element | None) -> list[Element] | None:
    """What becomes of an element that ours has: nothing, one element, or None for a clash."""
    if base is None:
        return [ours] if theirs is None or theirs.code == ours.code else None
    if theirs is None:
        return [] if ours.code == base.code else None
    if ours.code == theirs.code or theirs.code == base.code:
        return [ours]
    return [theirs] if ours.code == base.code else None


def _element(source: Source, unit: Unit) -> Element:
    node, holder = unit.node, unit.leaf.holder
    last = _last_node(node, holder)
    lines = tuple(source.lines[unit.lead : unit.end])
    code = [*source.lines[unit.start : unit.end - 1], source.lines[unit.end - 1][: last.end_col_offset]]
    text = b"".join(code).strip()
    rest = lines[-1][last.end_col_offset :]
    comma = last.end_col_offset + len(rest) - len(rest.lstrip(b" \t"))
    comma = comma if lines[-1][comma : comma + 1] == b"," else last.end_col_offset
    if isinstance(holder, ast.Dict) and node in holder.keys:
        key = _text(source.lines[unit.start : unit.end], node)  # type: ignore[arg-type]
    elif isinstance(node, (ast.keyword, ast.arg)) and node.arg:
        key = node.arg.encode()
    else:
        key = text
    return Element(" ".join(key.decode().split()), text, lines, comma)


def _text(lines: Sequence[bytes], node: ast.expr) -> bytes:
    """The source of a node that starts on the first line."""
    count = (node.end_lineno or node.lineno) - node.lineno
    if not count:
        return lines[0][node.col_offset : node.end_col_offset]
    return b"".join([lines[0][node.col_offset :], *lines[1:count], lines[count][: node.end_col_offset]])


def _last_node(node: ast.AST, holder: ast.AST | None) -> ast.expr:
    """Where the element's code ends: a dict's value, a parameter's default."""
    if isinstance(holder, ast.Dict) and node in holder.keys:
        return holder.values[holder.keys.index(node)]  # type: ignore[arg-type]
    if isinstance(holder, ast.arguments) and isinstance(node, ast.arg):
        plain = [*holder.posonlyargs, *holder.args]
        defaults = dict(zip(plain[len(plain) - len(holder.defaults) :], holder.defaults))
        defaults.update({a: d for a, d in zip(holder.kwonlyargs, holder.kw_defaults) if d})
        return defaults.get(node, node)  # type: ignore[return-value, arg-type]
    return node  # type: ignore[return-value]
