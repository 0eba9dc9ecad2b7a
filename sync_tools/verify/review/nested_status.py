"""RV106: a status check that misses nested lists.

A rollout function may fan one prompt out into several samples, so that a group holds lists of samples: reading `.status`
of such a list fails, or never sees what it looks for.
"""

import ast
from collections.abc import Iterator

from sync_tools.verify.model import Finding
from sync_tools.verify.scopes import arguments
from sync_tools.verify.source import Source

CODE = "RV106"


def nested_status(source: Source) -> Iterator[Finding]:
    if "status" not in source.words:
        return
    for function in source.nodes(ast.FunctionDef, ast.AsyncFunctionDef):
        for arg in arguments(function):
            kind = ast.unparse(arg.annotation).lower() if arg.annotation else ""
            read = None
            if "list[list[" in kind:
                read = _of_elements(function, arg.arg)
            elif "| list[" in kind or (kind.startswith("list[") and "|" in kind):
                read = _of_itself(function, arg.arg)
            if read is not None and not _asks_for_list(function):
                message = f"`{arg.arg}` may hold lists of samples, and their status is not looked at"
                yield Finding(source.path, read.lineno, CODE, message, "flatten it first, or ask isinstance(.., list)")


def _of_elements(function: ast.AST, name: str) -> ast.AST | None:
    """A read of `.status` of what a loop over the argument gives."""
    for node in ast.walk(function):
        if isinstance(node, ast.For | ast.comprehension) and getattr(node.iter, "id", "") == name:
            element = getattr(node.target, "id", None)
            found = element and _of_itself(function, element)
            if found:
                return found
    return None


def _of_itself(function: ast.AST, name: str) -> ast.AST | None:
    reads = (n for n in ast.walk(function) if isinstance(n, ast.Attribute) and n.attr == "status")
    return next((n for n in reads if isinstance(n.ctx, ast.Load) and getattr(n.value, "id", "") == name), None)


def _asks_for_list(function: ast.AST) -> bool:
    calls = (n for n in ast.walk(function) if isinstance(n, ast.Call) and getattr(n.func, "id", "") == "isinstance")
    return any("list" in ast.unparse(c) for c in calls)
