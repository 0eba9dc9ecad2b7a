"""RV108: an abort status is overwritten by what follows."""

import ast
from collections.abc import Iterator

from sync_tools.verify.model import Finding
from sync_tools.verify.source import Source

CODE = "RV108"
LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)


def abort_overwritten(source: Source) -> Iterator[Finding]:
    if "ABORTED" not in source.words:
        return
    blocks = [
        b
        for n in source.nodes(
            ast.FunctionDef, ast.AsyncFunctionDef, ast.If, ast.For, ast.AsyncFor, ast.With, ast.AsyncWith, ast.Try
        )
        for b in (n.body, getattr(n, "orelse", []))
        if b
    ]
    for block in blocks:
        aborted: set[str] = set()
        for statement in block:
            for holder, status in _sets(statement):
                if holder in aborted and status != "ABORTED":
                    message = f"`{holder}.status` may be ABORTED here, and is overwritten"
                    yield Finding(source.path, statement.lineno, CODE, message, "leave an aborted sample as it is")
            aborted |= _aborted_in(statement)


def _sets(statement: ast.stmt) -> list[tuple[str, str]]:
    """(`sample`, `COMPLETED`) for `sample.status = Sample.Status.COMPLETED`."""
    match statement:
        case ast.Assign(targets=[ast.Attribute(value=holder, attr="status")], value=ast.Attribute(attr=status)):
            return [(ast.unparse(holder), status)]
    return []


def _aborted_in(statement: ast.stmt) -> set[str]:
    """Whose status an `if` sets to ABORTED and then goes on."""
    if not isinstance(statement, ast.If) or isinstance(statement.body[-1], LEAVES):
        return set()
    return {holder for inner in statement.body for holder, status in _sets(inner) if status == "ABORTED"}
