"""Calls to functions, classes and methods of our packages, and of the same module, bind to their signatures.

Looked at are the touched files, and the callers elsewhere of functions whose signature the port changed. Where a name
may be several things, or a decorator unknown, nothing is said.
"""

import ast
from collections.abc import Iterator

from sync_tools.verify.code import Code, Definition
from sync_tools.verify.model import Context, Finding
from sync_tools.verify.scopes import COMPREHENSIONS, FUNCTIONS
from sync_tools.verify.signatures import Signature, ancestry, complaint, members, of_class, of_function, resolve
from sync_tools.verify.source import PYTHON, Source

FIX = "give what the fork's function takes, or port the change of its signature"


def calls(context: Context) -> Iterator[Finding]:
    touched = [s for s in context.files() if s.module is not None]
    for source in touched:
        yield from _in(context.code, source, None)
    changed = {name for source in touched for name in _changed(context, source)}
    elsewhere = {s.path: s for name in changed for s in context.code.mentioning(f"{name}(", PYTHON)}
    for path in sorted(elsewhere.keys() - context.touched):
        yield from _in(context.code, elsewhere[path], changed)


def _changed(context: Context, source: Source) -> Iterator[str]:
    """Functions and methods of a file that stood in it before with other parameters."""
    before = context.code_before.source(source.path)
    if before is None or before.module is None:
        return
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    old = {n.name: ast.dump(n.args) for n in before.nodes(*kinds)}
    for node in source.nodes(*kinds):
        if node.name in old and old[node.name] != ast.dump(node.args):
            parent = source.parent(node)
            yield parent.name if node.name == "__init__" and isinstance(parent, ast.ClassDef) else node.name


def _in(code: Code, source: Source, only: set[str] | None) -> Iterator[Finding]:
    for call in source.nodes(ast.Call):
        func, given, partial = call.func, call, False
        if _is_partial(func) and call.args:
            func, partial = call.args[0], True
            given = ast.Call(func=func, args=call.args[1:], keywords=call.keywords)
        name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", None)
        if name is None or (only is not None and name not in only):
            continue
        signature = _signature(code, source, func)
        said = complaint(given, signature, partial) if signature else None
        if said and not _is_expected(source, call):
            yield Finding(source.path, call.lineno, "calls.bind", said, FIX)


def _is_expected(source: Source, call: ast.Call) -> bool:
    """Whether the call stands in `with pytest.raises(..)`: a test that it fails."""
    around = [item.context_expr for up in source.ancestors(call) if isinstance(up, ast.With) for item in up.items]
    return any(
        isinstance(e, ast.Call) and getattr(e.func, "attr", "").lower().startswith(("raises", "assertraises"))
        for e in around
    )


def _is_partial(func: ast.expr) -> bool:
    return (isinstance(func, ast.Name) and func.id == "partial") or (
        isinstance(func, ast.Attribute) and func.attr == "partial" and getattr(func.value, "id", "") == "functools"
    )


def _signature(code: Code, source: Source, func: ast.expr) -> Signature | None:
    if isinstance(func, ast.Name):
        return _of_definition(code, _lookup(code, source, func))
    if not (isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name)):
        return None
    if func.value.id in ("self", "cls"):
        return _of_own_method(code, source, func)
    owner = _lookup(code, source, func.value)
    if isinstance(owner, Definition) and isinstance(owner.node, ast.ClassDef):
        return _of_method(code, owner, func.attr, through_class=True)
    if isinstance(instance := _class_of(code, source, func.value), Definition):
        return _of_method(code, instance, func.attr, through_class=False)
    local = any(func.value.id in source.bindings(up) for up in source.ancestors(func) if isinstance(up, FUNCTIONS))
    return None if local else _of_definition(code, resolve(code, source, func))


def _lookup(code: Code, source: Source, name: ast.Name) -> object:
    """What a name is where it is used; None when a scope binds it more than once, or in another way."""
    inside_function = False
    for scope in source.ancestors(name):
        if isinstance(scope, ast.ClassDef):
            if not inside_function and name.id in source.bindings(scope):
                return None
            continue
        inside_function = inside_function or isinstance(scope, FUNCTIONS)
        if isinstance(scope, ast.Module):
            return resolve(code, source, name)
        if isinstance(scope, (*FUNCTIONS, *COMPREHENSIONS)):
            found = source.bindings(scope).get(name.id, ())
            if len(found) == 1 and found[0].alias is not None:
                return code.imported(source, found[0].node, found[0].alias)
            if found:
                return Definition(source, found[0].node) if len(found) == 1 else None
    return None


def _of_definition(code: Code, target: object) -> Signature | None:
    if not isinstance(target, Definition):
        return None
    if isinstance(target.node, ast.ClassDef):
        return of_class(code, target.source, target.node)
    if isinstance(target.node, ast.FunctionDef | ast.AsyncFunctionDef):
        return of_function(target.node, bound=False)
    return None


def _of_own_method(code: Code, source: Source, func: ast.Attribute) -> Signature | None:
    around = next((up for up in source.ancestors(func) if isinstance(up, ast.ClassDef)), None)
    if around is None or _is_stored(source, func.attr):
        return None
    through_class = func.value.id == "cls"
    return _of_method(code, Definition(source, around), func.attr, through_class)


def _is_stored(source: Source, attr: str) -> bool:
    """Whether an attribute of that name is assigned anywhere in the file, so that it may be something else."""
    return any(n.attr == attr and isinstance(n.ctx, ast.Store) for n in source.nodes(ast.Attribute))


def _class_of(code: Code, source: Source, name: ast.Name) -> object:
    """The class of which a name is an instance: a parameter annotated with it, or a variable made once by its call."""
    for scope in source.ancestors(name):
        if not isinstance(scope, FUNCTIONS) or not (found := source.bindings(scope).get(name.id)):
            continue
        node = found[0].node if len(found) == 1 else None
        if isinstance(node, ast.arg):
            known = isinstance(node.annotation, ast.Name)
            target = _lookup(code, source, node.annotation) if known else None
        else:
            assigned = source.parent(node) if node is not None else None
            made = isinstance(assigned, ast.Assign) and isinstance(assigned.value, ast.Call)
            by_name = made and len(assigned.targets) == 1 and isinstance(assigned.value.func, ast.Name)
            target = _lookup(code, source, assigned.value.func) if by_name else None
        return target if isinstance(target, Definition) and isinstance(target.node, ast.ClassDef) else None
    return None


def _of_method(code: Code, owner: Definition, name: str, through_class: bool) -> Signature | None:
    """The signature of a method as it is called on an instance, or on the class itself."""
    family = ancestry(code, owner.source, owner.node)
    for _, node in family if family is not None else [(owner.source, owner.node)]:
        method = members(node).get(name)
        if method is None:
            continue
        if not isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef):
            return None
        kinds = {getattr(d, "id", "") for d in method.decorator_list}
        bound = "classmethod" in kinds or ("staticmethod" not in kinds and not through_class)
        return of_function(method, bound)
    return None
