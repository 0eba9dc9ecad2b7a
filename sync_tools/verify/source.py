"""A file as the checks see it: text, lines, and for Python its syntax tree, each worked out once and only when asked."""

import ast
import re
from dataclasses import dataclass, field
from functools import cached_property
from posixpath import splitext

from sync_tools.syntax import parse
from sync_tools.verify.scopes import SCOPES, Bindings, bindings, children

PYTHON, MARKDOWN, SHELL = frozenset({".py", ".pyi"}), frozenset({".md", ".rst"}), frozenset({".sh", ".bash"})


@dataclass(frozen=True, eq=False)
class Source:
    path: str
    data: bytes
    _bindings: dict[ast.AST, Bindings] = field(default_factory=dict, repr=False)

    @cached_property
    def suffix(self) -> str:
        return splitext(self.path)[1]

    @cached_property
    def text(self) -> str:
        return self.data.decode("utf-8", "replace").replace("\r\n", "\n")

    @cached_property
    def lines(self) -> list[str]:
        return self.text.split("\n")

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(re.findall(r"\w+", self.text))

    def line(self, number: int) -> str:
        """A line by its 1-based number; empty outside the file."""
        return self.lines[number - 1] if 0 < number <= len(self.lines) else ""

    def line_at(self, offset: int) -> int:
        """The 1-based line of an offset in `text`."""
        return self.text.count("\n", 0, offset) + 1

    @cached_property
    def parsed(self) -> ast.Module | SyntaxError:
        """The syntax tree, or the error. Nothing is executed."""
        try:
            return parse(self.data, self.path)
        except SyntaxError as e:
            return e

    @property
    def module(self) -> ast.Module | None:
        """The syntax tree of a Python file that parses; None otherwise."""
        return self.parsed if self.suffix in PYTHON and isinstance(self.parsed, ast.Module) else None

    @cached_property
    def _index(self) -> tuple[dict[type, list[ast.AST]], dict[ast.AST, ast.AST]]:
        kinds: dict[type, list[ast.AST]] = {}
        parents: dict[ast.AST, ast.AST] = {}
        stack: list[ast.AST] = [self.module] if self.module else []
        while stack:
            node = stack.pop()
            kinds.setdefault(type(node), []).append(node)
            below = children(node)
            for child in below:
                parents[child] = node
            stack += reversed(below)
        return kinds, parents

    def nodes(self, *kinds: type) -> list:
        """The nodes of these exact types, each type in the order of the file; none when the file does not parse."""
        return [node for kind in kinds for node in self._index[0].get(kind, ())]

    def parent(self, node: ast.AST) -> ast.AST | None:
        return self._index[1].get(node)

    def ancestors(self, node: ast.AST) -> list[ast.AST]:
        """From the parent outwards to the module."""
        found, up = [], self.parent(node)
        while up is not None:
            found.append(up)
            up = self.parent(up)
        return found

    def scopes(self) -> list[ast.AST]:
        """The module and every function, class and comprehension in it."""
        return self.nodes(ast.Module, *SCOPES)

    def bindings(self, scope: ast.AST) -> Bindings:
        """The names that a scope binds itself."""
        if scope not in self._bindings:
            self._bindings[scope] = bindings(scope)
        return self._bindings[scope]


class Sources:
    """Each content is parsed once, on whichever side of a port it stands, and over a run of ports once for all of them.

    Of each path the contents asked for last are kept: the fork's before and after, translated upstream's, and one more.
    """

    KEPT = 4

    def __init__(self) -> None:
        self._known: dict[str, dict[bytes, Source]] = {}

    def of(self, path: str, data: bytes) -> Source:
        kept = self._known.setdefault(path, {})
        found = kept.pop(data, None) or Source(path, data)
        kept[data] = found
        if len(kept) > self.KEPT:
            del kept[next(iter(kept))]
        return found
