"""The smallest pieces of code that an edit can stand in, by line.

A leaf is a simple statement, the header or a clause of a compound one, a decorator, an element that has its lines to
itself in a literal, a call, a signature or an import, a line of adjacent string literals, a comment line or a blank one.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from sync_tools.merge.lines import Span

LeafKind = Literal["blank", "comment", "decorator", "header", "clause", "simple", "element"]
_AFTER = re.compile(rb"[ \t]*,?[ \t]*(#.*)?\r?\n?$")
_STRINGS = re.compile(rb"""\s*((?:[rRbBfFuU]{0,2}(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')[ \t]*)+)(#.*)?\s*$""")


@dataclass(frozen=True, slots=True)
class Leaf:
    """Lines [start, end), which for an element with elements of its own include theirs. `node` is the statement or the
    element; `holder` the definition or statement whose block it stands in (None: the module), or an element's literal,
    call or import."""

    kind: LeafKind
    start: int
    end: int
    node: ast.AST | None = None
    holder: ast.AST | None = None
    whole: Span = (0, 0)
    declares: bool = False
    """Whether its block is a module's or a class's, or an `if` or `try` in one: where names are declared."""

    def shifted(self, by: int) -> "Leaf":
        if not by:
            return self
        whole = (self.whole[0] + by, self.whole[1] + by)
        return replace(self, start=self.start + by, end=self.end + by, whole=whole)


def first_line(node: ast.AST) -> int:
    """0-based line of a statement's first decorator or keyword."""
    return min([d.lineno for d in getattr(node, "decorator_list", [])] + [node.lineno]) - 1  # type: ignore[attr-defined]


def leaves_of(lines: Sequence[bytes], body: Sequence[ast.stmt]) -> list[Leaf]:
    """The leaf of each line."""
    owner: list[Leaf | None] = [None] * len(lines)
    inside: set[int] = set()
    for leaf in _statements(lines, body, None):
        owner[leaf.start : leaf.end] = [leaf] * (leaf.end - leaf.start)
        if leaf.end - leaf.start > 1:
            for element in _elements(lines, leaf, inside):
                owner[element.start : element.end] = [element] * (element.end - element.start)
    for n, line in enumerate(lines):
        text = line.strip()
        if n not in inside and (not text or text.startswith(b"#")):
            owner[n] = Leaf("comment" if text else "blank", n, n + 1)
    return [leaf or Leaf("blank", n, n + 1) for n, leaf in enumerate(owner)]


def _statements(
    lines: Sequence[bytes], body: Sequence[ast.stmt], holder: ast.AST | None, declares: bool = True
) -> Iterator[Leaf]:
    for node in body:
        whole = (first_line(node), node.end_lineno or node.lineno)
        blocks = _blocks(node)
        if not blocks or blocks[0][0].lineno == node.lineno:
            yield Leaf("simple", *whole, node, holder, whole, declares)
            continue
        for decorator in getattr(node, "decorator_list", []):
            yield Leaf("decorator", decorator.lineno - 1, decorator.end_lineno, node, holder, whole, declares)
        at = node.lineno - 1
        kind: LeafKind = "clause" if lines[at].lstrip().startswith(b"elif") else "header"
        inner = declares and isinstance(node, (ast.ClassDef, ast.If, ast.Try))
        for block in blocks:
            start, end = _stripped(lines, at, first_line(block[0]))
            if start < end:
                yield Leaf(kind, start, end, node, holder, whole, declares)
            yield from _statements(lines, block, node, inner)
            at = block[-1].end_lineno or at
            kind = "clause"


def _blocks(node: ast.stmt) -> list[list[ast.stmt]]:
    """The blocks of a compound statement in source order."""
    if isinstance(node, ast.Match):
        return [case.body for case in node.cases]
    blocks = [getattr(node, "body", [])]
    blocks += [handler.body for handler in getattr(node, "handlers", [])]
    blocks += [getattr(node, "orelse", []), getattr(node, "finalbody", [])]
    return [block for block in blocks if block]


def _stripped(lines: Sequence[bytes], start: int, end: int) -> Span:
    while start < end and not is_code(lines[start]):
        start += 1
    while start < end and not is_code(lines[end - 1]):
        end -= 1
    return start, end


def is_code(line: bytes) -> bool:
    """Neither blank nor a comment."""
    text = line.strip()
    return bool(text) and not text.startswith(b"#")


def _elements(lines: Sequence[bytes], leaf: Leaf, inside: set[int]) -> Iterator[Leaf]:
    """Elements, outer before inner; adds to `inside` the lines that start within a string."""
    assert leaf.node is not None
    for node in _expressions(leaf):
        if isinstance(node, (ast.Constant, ast.JoinedStr)):
            parts = _string_lines(lines, node)
            if parts is None:
                inside.update(range(node.lineno, node.end_lineno or node.lineno))
            else:
                yield from (Leaf("element", n, n + 1, node, node, (n, n + 1)) for n in parts)
            continue
        for start, end, part in _parts(lines, node):
            if leaf.start <= start and end <= leaf.end:
                yield Leaf("element", start, end, part, node, (start, end))


def _expressions(leaf: Leaf) -> Iterator[ast.AST]:
    """Nodes of the leaf that span lines; blocks of a compound statement are left out."""
    todo: list[ast.AST] = [leaf.node] if leaf.node else []
    for node in todo:
        children = ast.iter_child_nodes(node)
        inner = [c for c in children if not isinstance(c, (ast.stmt, ast.ExceptHandler, ast.match_case))]
        todo.extend(c for c in inner if getattr(c, "end_lineno", 0) != getattr(c, "lineno", 1))
        if isinstance(node, ast.arguments) or getattr(node, "lineno", 0) != getattr(node, "end_lineno", 0):
            yield node


def _parts(lines: Sequence[bytes], node: ast.AST) -> Iterator[tuple[int, int, ast.AST]]:
    for first, last in _members(node):
        start, end = first.lineno - 1, last.end_lineno or last.lineno
        before = lines[start][: first.col_offset].strip(b" \t\f*")
        if not before and _AFTER.match(lines[end - 1][last.end_col_offset :]):
            yield start, end, first


def _members(node: ast.AST) -> list[tuple[ast.expr, ast.expr]]:
    """First and last node of each member of a list-like thing."""
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return [(e, e) for e in node.elts]
    if isinstance(node, ast.Dict):
        return [(k or v, v) for k, v in zip(node.keys, node.values)]
    if isinstance(node, ast.Call):
        return [(a, a) for a in [*node.args, *node.keywords]]  # type: ignore[misc]
    if isinstance(node, ast.ImportFrom):
        return [(a, a) for a in node.names]  # type: ignore[misc]
    if isinstance(node, ast.arguments):
        plain = [*node.posonlyargs, *node.args]
        defaults = [*[None] * (len(plain) - len(node.defaults)), *node.defaults]
        pairs = [*zip(plain, defaults), *zip(node.kwonlyargs, node.kw_defaults)]
        pairs += [(a, None) for a in (node.vararg, node.kwarg) if a]
        return [(a, d or a) for a, d in pairs]  # type: ignore[misc]
    return []


def _string_lines(lines: Sequence[bytes], node: ast.Constant | ast.JoinedStr) -> list[int] | None:
    """Lines that hold nothing but whole string literals, if the node is adjacent literals and no literal spans lines."""
    span = range(node.lineno - 1, node.end_lineno or node.lineno)
    if not isinstance(node, ast.JoinedStr) and not isinstance(node.value, (str, bytes)):
        return []
    inner = span[1:-1]
    if not all(_STRINGS.match(lines[n]) or not is_code(lines[n]) for n in inner):
        return None
    ends = [n for n in (span[0], span[-1]) if _STRINGS.match(lines[n])]
    texts = [lines[n] for n in (span[0], span[-1])]
    if any(b'"""' in text or b"'''" in text for text in texts):
        return None
    return sorted({*ends, *(n for n in inner if is_code(lines[n]))})
