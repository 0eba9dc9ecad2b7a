"""Which definition each line of a file belongs to."""

import ast
import re
from collections import Counter
from functools import lru_cache

from sync_tools.ledger.lines import split
from sync_tools.syntax import parsed

MODULE, IMPORTS = "<module>", "<imports>"
PARSE_LIMIT = 5_000_000

Label = tuple[str, int]
"""A dotted name, and which of the definitions of that name."""

NOWHERE: Label = ("", 0)

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def labels(path: str, data: bytes) -> tuple[Label, ...]:
    """A label for each line. Python has `f`, `Class`, `Class.method`, `<imports>` and `<module>`; comments and blank
    lines belong to what follows them. Other files, and Python that does not parse, have no definitions."""
    return _of_python(data) if path.endswith((".py", ".pyi")) else (NOWHERE,) * len(split(data))


@lru_cache(
    maxsize=1024
)  # asked by unit, line and conflict; and what one change of a stack leaves is where another starts
def _of_python(data: bytes) -> tuple[Label, ...]:
    count = len(split(data))
    body = _parse(data) if len(data) <= PARSE_LIMIT else None
    if not body:
        return (NOWHERE,) * count
    found: list[Label | None] = [None] * count
    _mark(body, "", found, Counter())
    return _filled(found)


def is_public(name: str) -> bool:
    """A definition that other files may name."""
    return bool(name) and not name.startswith("<") and not name.rpartition(".")[2].startswith("_")


def _parse(data: bytes) -> list[ast.stmt] | None:
    lone_returns = re.sub(rb"\r(?!\n)", b" ", data)  # Python ends a line there, git does not
    tree = parsed(lone_returns)
    return tree.body if tree else None


def _mark(body: list[ast.stmt], prefix: str, found: list[Label | None], seen: Counter[str]) -> None:
    for node in body:
        first, last = _first(node), node.end_lineno or node.lineno
        if not isinstance(node, Definition):
            imports = not prefix and isinstance(node, ast.Import | ast.ImportFrom)
            found[first - 1 : last] = [(prefix or (IMPORTS if imports else MODULE), 0)] * (last - first + 1)
            continue
        name = f"{prefix}.{node.name}" if prefix else node.name
        label = (name, seen[name])
        seen[name] += 1
        if isinstance(node, ast.ClassDef):
            header = max(_first(node.body[0]), first + 1)
            found[first - 1 : header - 1] = [label] * (header - first)
            _mark(node.body, name, found, seen)
        else:
            found[first - 1 : last] = [label] * (last - first + 1)


def _first(node: ast.stmt) -> int:
    decorators = node.decorator_list if isinstance(node, Definition) else []
    return min([node.lineno, *(d.lineno for d in decorators)])


def _filled(found: list[Label | None]) -> tuple[Label, ...]:
    out: list[Label] = []
    following: Label | None = next((x for x in reversed(found) if x), None)
    for label in reversed(found):
        following = label or following
        out.append(following or NOWHERE)
    return tuple(reversed(out))
