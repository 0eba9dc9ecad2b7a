"""Syntax trees of Python that nobody trusts: it is read and never executed, and Python's warnings about it are not ours."""

import ast
import warnings
from collections import deque
from collections.abc import Iterator
from functools import lru_cache

KEPT = 128
BLOCKS = ("body", "handlers", "cases", "orelse", "finalbody")


def parse(text: bytes | str, name: str = "<unknown>") -> ast.Module:
    """The tree of a text, the caller's own. Raises SyntaxError for whatever Python cannot take as a module."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text, name)
        except (ValueError, RecursionError, MemoryError) as e:
            raise SyntaxError(str(e) or type(e).__name__) from e


@lru_cache(KEPT)
def parsed(text: bytes | str) -> ast.Module | None:
    """The tree of a text, or None where it does not parse. All who ask share it: it is not to be changed."""
    try:
        return parse(text)
    except SyntaxError:
        return None


def statements(module: ast.Module) -> Iterator[ast.AST]:
    """The statements of a module and of all blocks in it, the outer ones first: a tenth of the nodes of its tree."""
    left: deque[ast.AST] = deque(module.body)
    while left:
        node = left.popleft()
        yield node
        for block in BLOCKS:
            left.extend(getattr(node, block, ()))
