"""Which names a scope of Python code binds."""

import ast
from dataclasses import dataclass

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
SCOPES = (*FUNCTIONS, ast.ClassDef, *COMPREHENSIONS)


@dataclass(frozen=True)
class Binding:
    """A place that binds a name: a definition, an import (with its alias), or any other node that stores it."""

    node: ast.AST
    alias: ast.alias | None = None


Bindings = dict[str, list[Binding]]


def bindings(scope: ast.AST) -> Bindings:
    """The names that `scope` binds itself, with the places, in order; scopes inside it are not entered."""
    found: Bindings = {}
    if isinstance(scope, FUNCTIONS):
        for arg in arguments(scope):
            found.setdefault(arg.arg, []).append(Binding(arg))
    stack = list(reversed(_inside(scope)))
    while stack:
        node = stack.pop()
        for name, alias in _bound_by(node):
            found.setdefault(name, []).append(Binding(node, alias))
        stack.extend(reversed(_outside(node) if isinstance(node, SCOPES) else children(node)))
    return found


def children(node: ast.AST) -> list[ast.AST]:
    """`ast.iter_child_nodes` but for the contexts (Load, Store), in a third of the time."""
    found: list[ast.AST] = []
    for value in vars(node).values():
        if type(value) is list:
            found += [item for item in value if isinstance(item, ast.AST)]
        elif isinstance(value, ast.AST) and not isinstance(value, ast.expr_context):
            found.append(value)
    return found


def arguments(function: ast.AST) -> list[ast.arg]:
    a = function.args
    extra = [x for x in (a.vararg, a.kwarg) if x]
    return [*a.posonlyargs, *a.args, *a.kwonlyargs, *extra]


def _inside(scope: ast.AST) -> list[ast.AST]:
    """The children of a scope that belong to it, as opposed to the scope around it."""
    if isinstance(scope, ast.Lambda):
        return [scope.body]
    if isinstance(scope, ast.DictComp):
        return [scope.key, scope.value, *scope.generators]
    if isinstance(scope, COMPREHENSIONS):
        return [scope.elt, *scope.generators]
    return list(scope.body)


def _outside(scope: ast.AST) -> list[ast.AST]:
    """The children of a nested scope that are evaluated in the scope around it."""
    if isinstance(scope, ast.ClassDef):
        return [*scope.decorator_list, *scope.bases, *scope.keywords]
    if isinstance(scope, COMPREHENSIONS):
        return [n for n in ast.walk(scope) if isinstance(n, ast.NamedExpr)]
    defaults = [d for d in (*scope.args.defaults, *scope.args.kw_defaults) if d]
    return [*getattr(scope, "decorator_list", ()), *defaults]


def _bound_by(node: ast.AST) -> list[tuple[str, ast.alias | None]]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [(name, None)]
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            return [(name, None)]
        case ast.Import(names=names):
            return [(a.asname or a.name.split(".")[0], a) for a in names]
        case ast.ImportFrom(names=names):
            return [(a.asname or a.name, a) for a in names if a.name != "*"]
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            return [(name, None)]
        case ast.MatchMapping(rest=str(name)):
            return [(name, None)]
        case _:
            return []
