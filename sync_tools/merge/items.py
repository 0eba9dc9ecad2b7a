"""The named units of a Python file: definitions, imports and statements of a module or of a class, in order.

Items tile the lines of their module or class: blank lines and comments above a statement, and its decorators, belong to it.
"""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from sync_tools.merge.layout import first_line, is_code

Key = tuple[str, ...]
Lines = Sequence[bytes]
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


def module_items(statements: Iterable[tuple[ast.stmt, int]], lines: Lines) -> list[Item]:
    """Items of a module, from its statements and what to add to the line numbers of each."""
    return _items(statements, lines, 0, len(lines), "")


def class_items(item: Item, lines: Lines) -> tuple[int, list[Item]]:
    """The end of the class's header, and the items of its body."""
    assert isinstance(item.node, ast.ClassDef)
    offset = item.code - first_line(item.node)
    at = first_line(item.node.body[0]) + offset
    while not is_code(lines[at - 1]):
        at -= 1
    return at, _items([(node, offset) for node in item.node.body], lines, at, item.end, item.dotted)


def definitions(items: Iterable[Item], lines: Lines) -> Iterator[Item]:
    """Every item; of a class, its header and then its statements and methods in place of the whole."""
    for item in items:
        if not is_open_class(item.node):
            yield item
            continue
        end, inner = class_items(item, lines)
        yield replace(item, key=(*item.key, "header"), end=end)
        yield from definitions(inner, lines)


def is_open_class(node: ast.stmt | None) -> bool:
    """Whether it is a class whose body has lines of its own."""
    return isinstance(node, ast.ClassDef) and node.body[0].lineno > node.lineno


def _items(statements: Iterable[tuple[ast.stmt, int]], lines: Lines, at: int, end: int, scope: str) -> list[Item]:
    seen: Counter[Key] = Counter()
    items: list[Item] = []
    for node, offset in statements:
        key = _key(node, lines, offset)
        stop = (node.end_lineno or node.lineno) + offset
        items.append(Item(key, at, first_line(node) + offset, stop, node, scope, seen[key]))
        seen[key] += 1
        at = max(at, stop)
    if at < end:
        items.append(Item(TAIL, at, end, end, None, scope))
    return items


def _key(node: ast.stmt, lines: Lines, offset: int) -> Key:
    if isinstance(node, DEFINITIONS):
        return ("def", node.name)
    if isinstance(node, ast.ImportFrom):
        return ("from", "." * node.level + (node.module or ""))
    if isinstance(node, ast.Import):
        return ("import", *imported_names(node))
    names = assigned_names(node)
    if names:
        return ("assign", *names)
    start, end = node.lineno - 1 + offset, (node.end_lineno or node.lineno) + offset
    if getattr(node, "body", None):
        return ("block", lines[start].decode().strip())
    return ("stmt", b"".join(lines[start:end]).decode().strip())


def assigned_names(node: ast.stmt) -> list[str]:
    """Names that a plain assignment binds; none for anything else."""
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign):
        targets = [node.target]
    else:
        return []
    return [t.id for t in targets if isinstance(t, ast.Name)] if all(isinstance(t, ast.Name) for t in targets) else []


def imported_names(node: ast.Import | ast.ImportFrom) -> list[str]:
    """What an import statement imports, module and alias included."""
    module = "." * node.level + (node.module or "") + ":" if isinstance(node, ast.ImportFrom) else ""
    return [f"{module}{a.name} as {a.asname}" if a.asname else module + a.name for a in node.names]
