"""The named units of a Python file: definitions, imports and statements of a module or of a class, in order.

Items tile the lines of their module or class: blank lines and comments above a statement, and its decorators, belong to it.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from sync_tools.merge.layout import first_line
from sync_tools.merge.source import Source

Key = tuple[str, ...]
TAIL: Key = ("tail",)
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
IMPORTS = (ast.Import, ast.ImportFrom)


@dataclass(frozen=True, slots=True)
class Item:
    """Lines [start, end); its code starts at `code`. `key` names it among its siblings; `number` tells siblings of one
    key apart, counting from 0. `scope` is the dotted name of the class it stands in, empty for a module's."""

    key: Key
    start: int
    code: int
    end: int
    node: ast.stmt | None
    scope: str = ""
    number: int = 0

    @property
    def is_definition(self) -> bool:
        return self.key[0] == "def"

    @property
    def name(self) -> str:
        return self.key[1] if self.is_definition else ""

    @property
    def dotted(self) -> str:
        return ".".join(part for part in (self.scope, self.name) if part)

    @property
    def symbol(self) -> str:
        """What a person calls it: a dotted name, the class of a class's statement, `<imports>` or `<module>`."""
        return self.dotted or ("<imports>" if isinstance(self.node, IMPORTS) else "<module>")

    @property
    def identity(self) -> tuple[str, Key, int]:
        """The same for the same thing in another version of the file."""
        return self.scope, self.key, self.number


def module_items(source: Source) -> list[Item]:
    items: list[Item] = []
    at = 0
    for node, offset in source.statements():
        end = (node.end_lineno or node.lineno) + offset
        items.append(Item(_key(node, source, offset), at, first_line(node) + offset, end, node))
        at = max(at, end)
    return _finished(items, at, len(source.lines), "")


def class_items(source: Source, item: Item) -> tuple[int, list[Item]]:
    """The end of the class's header, and the items of its body."""
    assert isinstance(item.node, ast.ClassDef)
    offset = item.code - first_line(item.node)
    at = header_end = _header_end(source, item, offset)
    items: list[Item] = []
    for node in item.node.body:
        end = (node.end_lineno or node.lineno) + offset
        items.append(Item(_key(node, source, offset), at, first_line(node) + offset, end, node, item.dotted))
        at = max(at, end)
    return header_end, _finished(items, at, item.end, item.dotted)


def definitions(source: Source) -> Iterator[Item]:
    """Every item of the module; of a class, its statements and methods in place of the whole, its header first."""
    for item in module_items(source):
        yield from _opened(source, item)


def _opened(source: Source, item: Item) -> Iterator[Item]:
    if not isinstance(item.node, ast.ClassDef) or item.node.body[0].lineno == item.node.lineno:
        yield item
        return
    end, inner = class_items(source, item)
    yield replace(item, key=(*item.key, "header"), end=end)
    for each in inner:
        yield from _opened(source, each)


def _header_end(source: Source, item: Item, offset: int) -> int:
    """Past the line with the class's colon."""
    assert isinstance(item.node, ast.ClassDef)
    end = first_line(item.node.body[0]) + offset
    while end > item.code + 1 and source.leaf(end - 1).kind in ("blank", "comment"):
        end -= 1
    return end


def _finished(items: list[Item], at: int, end: int, scope: str) -> list[Item]:
    seen: Counter[Key] = Counter()
    result = []
    for item in items:
        result.append(replace(item, number=seen[item.key]))
        seen[item.key] += 1
    if at < end:
        result.append(Item(TAIL, at, end, end, None, scope))
    return result


def _key(node: ast.stmt, source: Source, offset: int) -> Key:
    if isinstance(node, DEFINITIONS):
        return ("def", node.name)
    if isinstance(node, ast.ImportFrom):
        return ("from", "." * node.level + (node.module or ""))
    if isinstance(node, ast.Import):
        return ("import", *(f"{a.name} as {a.asname}" if a.asname else a.name for a in node.names))
    names = assigned_names(node)
    if names:
        return ("assign", *names)
    start, end = node.lineno - 1 + offset, (node.end_lineno or node.lineno) + offset
    if getattr(node, "body", None):
        return ("block", source.lines[start].decode().strip())
    return ("stmt", b"".join(source.lines[start:end]).decode().strip())


def assigned_names(node: ast.stmt) -> list[str]:
    """Names that a plain assignment binds; none for anything else."""
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign):
        targets = [node.target]
    else:
        return []
    return [t.id for t in targets if isinstance(t, ast.Name)] if all(isinstance(t, ast.Name) for t in targets) else []
