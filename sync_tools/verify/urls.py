"""The literal end of a URL in Python code, and the values that a name has in its function."""

import ast
import re
from collections.abc import Iterator

from sync_tools.verify.scopes import FUNCTIONS
from sync_tools.verify.source import Source

ROUTE = re.compile(r"(?:^https?://[^/\s]+|^)(/[\w/]+)")


def scope_of(source: Source, node: ast.AST) -> ast.AST:
    """The function around a node, or the module."""
    return next((up for up in source.ancestors(node) if isinstance(up, FUNCTIONS)), source.module)


def values_of(source: Source, name: ast.Name) -> list[ast.expr]:
    """What a name is assigned in the innermost function, around its use, that binds it; a parameter has no values."""
    scopes = [up for up in source.ancestors(name) if isinstance(up, (*FUNCTIONS, ast.Module))]
    bound = next((b for scope in scopes if (b := source.bindings(scope).get(name.id))), [])
    parents = [source.parent(b.node) for b in bound]
    assigned = [p.value for p in parents if isinstance(p, ast.Assign | ast.AnnAssign | ast.NamedExpr)]
    return [value for value in assigned if value is not None]


def route_of(source: Source, url: ast.expr, depth: int = 3) -> str:
    """The path that a URL expression ends with, as `/inference/v1/generate`; empty where it is not a literal."""
    match url:
        case ast.Constant(value=str(text)):
            return m[1] if (m := ROUTE.match(text)) else ""
        case ast.JoinedStr(values=[*_, ast.Constant(value=str(text))]):
            return m[1] if (m := ROUTE.search(text)) else ""
        case ast.BinOp(op=ast.Add(), right=right):
            return route_of(source, right, depth)
        case ast.BinOp(op=ast.Mod(), left=ast.Constant(value=str(text))):
            return m[1] if (m := re.search(r"(/[\w/]+)$", text)) else ""
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="format")):
            return m[1] if (m := re.search(r"(/[\w/]+)$", text)) else ""
        case ast.Call(args=[*_, ast.Constant(value=str(text))]) if text.startswith("/"):
            return route_of(source, url.args[-1], depth)
        case ast.Name() if depth:
            found = {route_of(source, value, depth - 1) for value in values_of(source, url)} - {""}
            return found.pop() if len(found) == 1 else ""
        case _:
            return ""


def literal_keys(source: Source, body: ast.expr) -> Iterator[tuple[str, ast.expr | None, int]]:
    """The literal keys of a dict expression, or of the dict that a name holds: (key, value, line)."""
    match body:
        case ast.Dict(keys=keys, values=values):
            for key, value in zip(keys, values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    yield key.value, value, key.lineno
                elif key is None and isinstance(value, ast.Dict):
                    yield from literal_keys(source, value)
        case ast.Call(func=ast.Name(id="dict"), args=args, keywords=keywords):
            for arg in args:
                yield from literal_keys(source, arg)
            for keyword in keywords:
                if keyword.arg:
                    yield keyword.arg, keyword.value, keyword.value.lineno
        case ast.BinOp(op=ast.BitOr(), left=left, right=right):
            yield from literal_keys(source, left)
            yield from literal_keys(source, right)
        case ast.Name():
            for value in values_of(source, body):
                if not isinstance(value, ast.Name):
                    yield from literal_keys(source, value)
            yield from _stored_keys(source, body)


def _stored_keys(source: Source, name: ast.Name) -> Iterator[tuple[str, ast.expr | None, int]]:
    """Keys given to the dict of that name later in the same function."""
    scope = scope_of(source, name)
    for node in source.nodes(ast.Subscript):
        match node:
            case ast.Subscript(value=ast.Name(id=name.id), slice=ast.Constant(value=str(key)), ctx=ast.Store()):
                if scope in source.ancestors(node):
                    parent = source.parent(node)
                    yield key, getattr(parent, "value", None), node.lineno
    for call in source.nodes(ast.Call):
        match call.func:
            case ast.Attribute(value=ast.Name(id=name.id), attr="update") if scope in source.ancestors(call):
                for arg in call.args:
                    if isinstance(arg, ast.Dict):
                        yield from literal_keys(source, arg)
                for keyword in call.keywords:
                    if keyword.arg:
                        yield keyword.arg, keyword.value, call.lineno
            case ast.Attribute(value=ast.Name(id=name.id), attr="setdefault") if scope in source.ancestors(call):
                if call.args and isinstance(call.args[0], ast.Constant):
                    yield str(call.args[0].value), None, call.lineno
