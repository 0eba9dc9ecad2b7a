"""No definition stands twice in one scope, as a clean merge of two additions leaves it."""

import ast
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator

from sync_tools.verify.model import Context, Finding
from sync_tools.verify.source import Source

MEANT = frozenset({"overload", "setter", "getter", "deleter", "register"})
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
FIX = "keep one of them"


def duplicates(context: Context) -> Iterator[Finding]:
    for source in context.files():
        if source.module is None:
            continue
        yield from _twice(source, _definitions(source), "duplicates.definition", "`{}` is defined twice in this scope")
        yield from _twice(source, _fields(source), "duplicates.field", "the field `{}` is declared twice")
        yield from _twice(source, _keys(source), "duplicates.key", "the key {} stands twice in this literal")
        yield from _twice(source, _imports(source), "duplicates.import", "`{}` is imported twice in this scope")
        yield from _twice(source, _options(source), "duplicates.option", "the option {} is added twice to one parser")


Place = tuple[Hashable, str, int]


def _twice(source: Source, places: Iterable[Place], rule: str, message: str) -> Iterator[Finding]:
    """A finding for each place after the first with an equal key; a place is (key, how to say it, line)."""
    seen: dict[Hashable, int] = {}
    for key, said, line in places:
        if key in seen:
            yield Finding(source.path, line, rule, f"{message.format(said)} (first at line {seen[key]})", FIX)
        seen.setdefault(key, line)


def _bodies(source: Source, *kinds: type) -> Iterator[tuple[int, list[ast.stmt]]]:
    for node in source.nodes(*kinds):
        for field in ("body", "orelse", "finalbody"):
            if isinstance(body := getattr(node, field, None), list):
                yield id(body), body


BLOCKS = (ast.Module, *DEFINITIONS, ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try)


def _definitions(source: Source) -> Iterator[Place]:
    for scope, body in _bodies(source, *BLOCKS):
        for node in body:
            if isinstance(node, DEFINITIONS) and node.name != "_" and not _meant(node):
                yield (scope, node.name), node.name, node.lineno


def _meant(node: ast.AST) -> bool:
    """Whether its decorators make a second definition of the name legal; an unknown factory's registration does too."""
    for decorator in node.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if isinstance(called, ast.Attribute) and (called.attr in MEANT or isinstance(decorator, ast.Call)):
            return True
        if isinstance(called, ast.Name) and (called.id in MEANT or "register" in called.id):
            return True
    return False


def _fields(source: Source) -> Iterator[Place]:
    for scope, body in _bodies(source, ast.ClassDef):
        for node in body:
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                yield (scope, node.target.id), node.target.id, node.lineno


def _keys(source: Source) -> Iterator[Place]:
    for node in source.nodes(ast.Dict):
        for key in node.keys:
            if isinstance(key, ast.Constant):
                yield (id(node), type(key.value), key.value), repr(key.value), key.lineno


def _imports(source: Source) -> Iterator[Place]:
    for scope, body in _bodies(source, ast.Module, *DEFINITIONS):
        for node in body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                origin = (node.level, node.module) if isinstance(node, ast.ImportFrom) else None
                for alias in node.names:
                    yield (scope, origin, alias.name, alias.asname), alias.asname or alias.name, alias.lineno


def _options(source: Source) -> Iterator[Place]:
    if "add_argument" not in source.words:
        return
    by_scope: dict[tuple[int, str], list[ast.Call]] = defaultdict(list)
    for call in source.nodes(ast.Call):
        if isinstance(call.func, ast.Attribute) and call.func.attr == "add_argument":
            body = next((id(up) for up in source.ancestors(call) if isinstance(up, (*DEFINITIONS, ast.If))), 0)
            by_scope[body, ast.unparse(call.func.value)].append(call)
    for scope, calls in by_scope.items():
        for call in calls:
            for arg in call.args:
                if isinstance(arg, ast.Constant) and str(arg.value).startswith("-"):
                    yield (scope, arg.value), f"`{arg.value}`", arg.lineno
