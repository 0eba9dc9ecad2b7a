"""What the import statements of a Python file bind: imports merge as sets, so a ledger compares them as sets."""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from sync_tools.syntax import parsed

Binding = tuple[str, str, str]
"""The module (with its leading dots), the name taken from it (empty: the module itself), the name that it gets."""


@dataclass(frozen=True)
class Statement:
    """One import statement at 0-based half-open `lines`; `at` holds the bindings on each of them."""

    lines: range
    at: Mapping[int, frozenset[Binding]]

    @property
    def bindings(self) -> frozenset[Binding]:
        return frozenset().union(*self.at.values())

    @property
    def modules(self) -> frozenset[str]:
        return frozenset(module for module, _, _ in self.bindings)


@dataclass(frozen=True)
class Imports:
    """The import statements at the top level of a module; none where it does not parse."""

    text: Sequence[bytes]
    statements: tuple[Statement, ...]

    @staticmethod
    def of(lines: Sequence[bytes]) -> "Imports":
        tree = parsed(b"\n".join(lines))
        body = tree.body if tree else []
        return Imports(lines, tuple(_statement(n) for n in body if isinstance(n, ast.Import | ast.ImportFrom)))

    @cached_property
    def bound(self) -> frozenset[Binding]:
        return frozenset().union(*(s.bindings for s in self.statements))

    def on(self, line: int) -> frozenset[Binding] | None:
        """What a line binds; None where it belongs to no import."""
        return next((s.at.get(line, frozenset()) for s in self.statements if line in s.lines), None)

    def over(self, lines: range) -> list[Statement]:
        """The statements that reach into a range."""
        return [s for s in self.statements if s.lines.start < lines.stop and lines.start < s.lines.stop]

    def written(self, statement: Statement) -> set[bytes]:
        return {self.text[i] for i in statement.lines}


@dataclass(frozen=True)
class Sides:
    """Translated upstream before and after, and the fork before the port."""

    old: Imports
    ours: Imports
    new: Imports


def merged(statement: Statement, here: Imports, sides: Sides) -> bool:
    """Whether a merge of imports leaves a statement as it stands `here`: with nothing but what one of the sides
    imports, without new remarks, and other than upstream has it only where the fork had it otherwise already."""
    text = here.written(statement)
    known = set(sides.ours.text) | set(sides.new.text)
    if not statement.bindings <= sides.new.bound | sides.ours.bound or any(b"#" in line for line in text - known):
        return False
    return bool(statement.bindings - sides.new.bound or text & set(sides.ours.text)) or _edited(statement, sides)


def _edited(statement: Statement, sides: Sides) -> bool:
    """The fork had imports of these modules in other words than upstream."""
    theirs = set(sides.old.text)
    return any(s.modules & statement.modules and sides.ours.written(s) - theirs for s in sides.ours.statements)


def _statement(node: ast.Import | ast.ImportFrom) -> Statement:
    at: dict[int, frozenset[Binding]] = {}
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            binding = ("." * node.level + (node.module or ""), alias.name, alias.asname or alias.name)
        else:
            binding = (alias.name, "", alias.asname or "")
        at[alias.lineno - 1] = at.get(alias.lineno - 1, frozenset()) | {binding}
    return Statement(range(node.lineno - 1, node.end_lineno or node.lineno), at)
