"""A file of the import, with what its lines are, and the pieces that an edit puts in their place."""

import ast
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import PurePosixPath


@dataclass(frozen=True)
class Piece:
    """Lines `start` to `stop` (0-based, half-open) of a file of the import, and what stands there instead."""

    start: int
    stop: int
    lines: tuple[str, ...]


@dataclass(frozen=True)
class File:
    """A file as the import has it, with what its lines are."""

    path: str
    data: bytes

    @cached_property
    def lines(self) -> list[str]:
        return self.data.decode("utf-8").splitlines()

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.data)

    @cached_property
    def functions(self) -> dict[str, range]:
        """The functions of a module and of its classes, by dotted name, with their lines, decorators included."""
        if not self.path.endswith(".py"):
            return {}
        found = {}
        for owner in [self.tree, *(n for n in self.tree.body if isinstance(n, ast.ClassDef))]:
            prefix = f"{owner.name}." if isinstance(owner, ast.ClassDef) else ""
            for node in owner.body:
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    found[prefix + node.name] = range(first_line(node), node.end_lineno or node.lineno)
        return found

    @cached_property
    def statements(self) -> dict[int, tuple[ast.stmt, bool]]:
        """By its first line, each statement that has its lines for itself; and whether its block holds others too."""
        found: dict[int, tuple[ast.stmt, bool]] = {}
        for node in ast.walk(self.tree):
            for field in ("body", "orelse", "finalbody"):
                block = getattr(node, field, [])
                for child in block if isinstance(block, list) else []:
                    first = first_line(child)
                    alone = not self.lines[first][: child.col_offset].strip() and "elif" not in self.lines[first]
                    if (
                        isinstance(child, ast.stmt)
                        and alone
                        and not self.lines[child.end_lineno - 1].rstrip().endswith(";")
                    ):
                        found[first] = child, len(block) > 1
        return found

    @property
    def kind(self) -> str:
        name = PurePosixPath(self.path).name
        return "Dockerfile" if name.startswith("Dockerfile") else PurePosixPath(self.path).suffix

    def symbol(self, line: int) -> str:
        """The function that a line stands in; empty outside."""
        return next((name for name, lines in self.functions.items() if line in lines), "")


@lru_cache(maxsize=4096)
def file(path: str, data: bytes) -> File:
    return File(path, data)


def first_line(node: ast.AST) -> int:
    return min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))]) - 1
