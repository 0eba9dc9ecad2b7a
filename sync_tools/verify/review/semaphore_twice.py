"""RV104: a semaphore is taken twice on one path.

Each task holds one permit and waits for a second; when all permits are held so, nothing moves.
"""

import ast
from collections.abc import Iterator

from sync_tools.verify.model import Finding
from sync_tools.verify.scopes import FUNCTIONS, children
from sync_tools.verify.source import Source

CODE = "RV104"
WITHS = (ast.With, ast.AsyncWith)


def semaphore_twice(source: Source) -> Iterator[Finding]:
    taking = [node for node in source.nodes(*WITHS) if _taken_by(node)]
    if len(taking) < 2:
        return
    takers = {f.name: s for f in source.nodes(ast.FunctionDef, ast.AsyncFunctionDef) if (s := _taken_in(f))}
    for node in taking:
        held = _taken_by(node)
        for inner in (n for statement in node.body for n in _same_path(statement)):
            again = held & _taken_by(inner) if isinstance(inner, WITHS) else _last(held) & _by_call(inner, takers)
            if again:
                message = f"`{sorted(again)[0]}` is taken again while it is held (from line {node.lineno})"
                yield Finding(source.path, inner.lineno, CODE, message, "take it in one place")


def _same_path(node: ast.AST) -> Iterator[ast.AST]:
    """The node and those below, but for functions that are only defined there."""
    if not isinstance(node, FUNCTIONS):
        yield node
        for child in children(node):
            yield from _same_path(child)


def _taken_by(node: ast.With | ast.AsyncWith) -> set[str]:
    taken = (ast.unparse(item.context_expr) for item in node.items)
    return {name for name in taken if "semaphore" in name.lower() and "(" not in name}


def _taken_in(function: ast.AST) -> set[str]:
    inner = (n for statement in function.body for n in _same_path(statement))
    return _last({name for n in inner if isinstance(n, WITHS) for name in _taken_by(n)})


def _last(names: set[str]) -> set[str]:
    return {name.rsplit(".", 1)[-1] for name in names}


def _by_call(node: ast.AST, takers: dict[str, set[str]]) -> set[str]:
    """The semaphores that an awaited function of this file takes."""
    if not (isinstance(node, ast.Await) and isinstance(node.value, ast.Call)):
        return set()
    func = node.value.func
    own = isinstance(func, ast.Attribute) and getattr(func.value, "id", "") == "self"
    return takers.get(func.attr if own else getattr(func, "id", ""), set())
