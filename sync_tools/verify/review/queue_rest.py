"""RV105: a queue is drained past the target and the rest dropped.

What was taken and not returned is neither trained nor counted: prompts vanish.
"""

import ast
from collections.abc import Iterator

from sync_tools.verify.model import Finding
from sync_tools.verify.source import Source

CODE = "RV105"
TAKES = frozenset({"get_nowait", "popleft", "get", "drain", "get_all", "pop"})
ADDS = frozenset({"append", "extend"})


def queue_rest(source: Source) -> Iterator[Finding]:
    if "queue" not in source.text.lower():
        return
    for function in source.nodes(ast.FunctionDef, ast.AsyncFunctionDef):
        for loop in (n for n in ast.walk(function) if isinstance(n, ast.While | ast.For)):
            for name in _filled(loop) - _bounded(loop):
                cut = _cut(function, loop, name)
                if cut is not None:
                    message = f"the queue is drained into `{name}`, and what is past the target is dropped"
                    yield Finding(source.path, cut.lineno, CODE, message, "stop at the target, or put the rest back")


def _filled(loop: ast.While | ast.For) -> set[str]:
    """The lists that a loop fills with what it takes from a queue."""
    calls = [n for n in ast.walk(loop) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)]
    taken = [c for c in calls if c.func.attr in TAKES and "queue" in ast.unparse(c.func.value).lower()]
    return (
        {c.func.value.id for c in calls if c.func.attr in ADDS and isinstance(c.func.value, ast.Name)}
        if taken
        else set()
    )


def _bounded(loop: ast.While | ast.For) -> set[str]:
    """The lists whose length the loop looks at one by one: extending them by several can still overshoot."""
    extended = {
        ast.unparse(n.func.value)
        for n in ast.walk(loop)
        if isinstance(n, ast.Call) and getattr(n.func, "attr", "") == "extend"
    }
    sized = {
        ast.unparse(n.args[0])
        for n in ast.walk(loop)
        if isinstance(n, ast.Call) and getattr(n.func, "id", "") == "len" and n.args
    }
    return sized - extended


def _cut(function: ast.AST, loop: ast.AST, name: str) -> ast.Subscript | None:
    """The `name[:n]` after the loop, unless the function also uses `name[n:]`."""
    slices = [
        n
        for n in ast.walk(function)
        if isinstance(n, ast.Subscript)
        and isinstance(n.value, ast.Name)
        and n.value.id == name
        and isinstance(n.slice, ast.Slice)
    ]
    heads = [n for n in slices if n.slice.lower is None and n.slice.upper is not None and n.lineno > loop.end_lineno]
    rests = [n for n in slices if n.slice.lower is not None and n.slice.upper is None]
    return heads[0] if heads and not rests else None
