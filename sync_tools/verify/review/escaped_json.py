"""RV102: JSON is parsed after its newlines were escaped.

Escaping a newline that stands between tokens makes valid JSON invalid, and hides what the engine really sent.
"""

import ast
from collections.abc import Iterator

from sync_tools.verify.model import Finding
from sync_tools.verify.source import Source
from sync_tools.verify.urls import values_of

CODE = "RV102"


def escaped_json(source: Source) -> Iterator[Finding]:
    if "loads" not in source.words:
        return
    for call in source.nodes(ast.Call):
        if not (isinstance(call.func, ast.Attribute | ast.Name) and call.args):
            continue
        name = call.func.attr if isinstance(call.func, ast.Attribute) else call.func.id
        given = call.args[0]
        known = [given, *(values_of(source, given) if isinstance(given, ast.Name) else [])]
        if name == "loads" and any(_escapes(n) for value in known for n in ast.walk(value)):
            message = "newlines are escaped before the JSON is parsed: valid JSON becomes invalid"
            yield Finding(source.path, call.lineno, CODE, message, "parse it as it came, or with strict=False")


def _escapes(node: ast.AST) -> bool:
    match node:
        case ast.Call(
            func=ast.Attribute(attr="replace"),
            args=[ast.Constant(value="\n" | "\r\n" | "\r"), ast.Constant(value="\\n" | "\\r\\n" | "\\r"), *_],
        ):
            return True
    return False
