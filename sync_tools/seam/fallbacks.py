"""Imports that only try another version's path: `except ImportError: from sglang.old import X`."""

import ast

from sync_tools.syntax import parsed


def fallback_lines(text: str) -> frozenset[int]:
    """The lines of imports in a handler that bind nothing but what its `try` imports: the same site once more."""
    if "ImportError" not in text:
        return frozenset()
    tree = parsed(text)
    return frozenset(
        line for node in (ast.walk(tree) if tree else ()) if isinstance(node, ast.Try) for line in _of(node)
    )


def _of(node: ast.Try) -> set[int]:
    tried = {name for statement in node.body for name in _bound(statement)}
    handled = [s for handler in node.handlers if "Import" in ast.unparse(handler.type or node) for s in handler.body]
    return {s.lineno for s in handled if (names := _bound(s)) and names <= tried}


def _bound(statement: ast.stmt) -> set[str]:
    if not isinstance(statement, ast.Import | ast.ImportFrom):
        return set()
    return {alias.asname or alias.name for alias in statement.names}
