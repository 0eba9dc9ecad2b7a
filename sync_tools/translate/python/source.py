"""A module's text with its tree: where nodes stand, line by line as Python counts them."""

import ast
import re
from bisect import bisect_right
from functools import cached_property

from sync_tools.syntax import parse

_LINE_END = re.compile(r"\r\n|\r|\n")
_BOM = "\ufeff"


class Source:
    """Text that parses. Raises SyntaxError, or ValueError for a NUL, when it does not.

    Nodes are known by their number in the tree, the same in every run.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._first = len(_BOM) if text.startswith(_BOM) else 0
        self.tree = parse(text[self._first :])
        self._starts = [self._first, *(match.end() for match in _LINE_END.finditer(text, self._first))]
        self.nodes: list[ast.AST] = [self.tree]
        self._parents: dict[int, ast.AST] = {}
        for node in self.nodes:
            for child in _children(node):
                self._parents[id(child)] = node
                self.nodes.append(child)
        self._numbers = {id(node): number for number, node in enumerate(self.nodes)}

    @cached_property
    def newline(self) -> str:
        match = _LINE_END.search(self.text)
        return match.group() if match else "\n"

    def number(self, node: ast.AST) -> int:
        return self._numbers[id(node)]

    def parent(self, node: ast.AST) -> ast.AST | None:
        return self._parents.get(id(node))

    def statement(self, node: ast.AST) -> ast.stmt:
        """The innermost statement that holds the node."""
        while not isinstance(node, ast.stmt):
            node = self._parents[id(node)]
        return node

    def line_start(self, line: int) -> int:
        """Offset of a 1-based line; the end of the text for the line behind the last."""
        return self._starts[line - 1] if line <= len(self._starts) else len(self.text)

    def line(self, line: int) -> str:
        """The text of a 1-based line, with its end."""
        return self.text[self.line_start(line) : self.line_start(line + 1)]

    def offset(self, line: int, column: int) -> int:
        """Offset of a position as the tree counts it: columns are UTF-8 bytes."""
        start, end = self.line_start(line), self.line_start(line + 1)
        if self.text[start : start + column].isascii():
            return start + column
        return start + len(self.text[start:end].encode()[:column].decode())

    def span(self, node: ast.AST) -> tuple[int, int]:
        return self.offset(node.lineno, node.col_offset), self.offset(node.end_lineno, node.end_col_offset)

    def segment(self, node: ast.AST) -> str:
        start, end = self.span(node)
        return self.text[start:end]

    def position(self, offset: int) -> tuple[int, int]:
        """1-based line and column, in characters."""
        line = bisect_right(self._starts, offset) or 1
        return line, offset - self.line_start(line) + 1


def _children(node: ast.AST) -> list[ast.AST]:
    """The nodes directly below, but for those that carry no position."""
    found: list[ast.AST] = []
    for held in node.__dict__.values():
        if isinstance(held, ast.AST):
            if held._attributes or held._fields:
                found.append(held)
        elif isinstance(held, list):
            found.extend(item for item in held if isinstance(item, ast.AST) and (item._attributes or item._fields))
    return found
