"""What a call may be given: the signature of a function, a method or a class, and how a call fails to bind to it."""

import ast
from dataclasses import dataclass

from sync_tools.verify.code import Code, Definition, Module, Resolved
from sync_tools.verify.source import Source

# Decorators that leave the signature as it is written.
TRANSPARENT = frozenset(
    {"staticmethod", "classmethod", "contextmanager", "asynccontextmanager", "lru_cache", "cache", "no_grad", "inference_mode",
     "abstractmethod", "override", "final"}
)  # fmt: skip


@dataclass(frozen=True)
class Signature:
    """`positional` are the parameters that may be given by position, without self; `required` those without default."""

    name: str
    positional: tuple[str, ...]
    positional_only: frozenset[str]
    keywords: frozenset[str]
    required: frozenset[str]
    more_positional: bool
    more_keywords: bool


def of_function(node: ast.FunctionDef | ast.AsyncFunctionDef, bound: bool) -> Signature | None:
    """The signature, without the first parameter when `bound`; None when a decorator may have changed it."""
    if any(_name(d) not in TRANSPARENT for d in node.decorator_list):
        return None
    a = node.args
    names = [x.arg for x in (*a.posonlyargs, *a.args)]
    with_default = set(names[len(names) - len(a.defaults) :]) if a.defaults else set()
    skip = 1 if bound and names else 0
    only = {x.arg for x in a.posonlyargs}
    keyword_only = {x.arg for x in a.kwonlyargs}
    free = {x.arg for x, default in zip(a.kwonlyargs, a.kw_defaults, strict=True) if default is not None}
    given = set(names[skip:])
    return Signature(
        name=node.name,
        positional=tuple(names[skip:]),
        positional_only=frozenset(only & given),
        keywords=frozenset((given - only) | keyword_only),
        required=frozenset((given - with_default) | (keyword_only - free)),
        more_positional=a.vararg is not None,
        more_keywords=a.kwarg is not None,
    )


def of_class(code: Code, source: Source, node: ast.ClassDef) -> Signature | None:
    """The signature of a class's constructor, through bases that are ours; None where it can't be known."""
    family = ancestry(code, source, node)
    if family is None or any(k.keywords or {"__new__", "__call__"} & members(k).keys() for _, k in family):
        return None
    if any(_name(d) != "dataclass" for _, k in family for d in k.decorator_list):
        return None
    for _, owner in family:
        if (init := members(owner).get("__init__")) is not None:
            return of_function(init, bound=True) if isinstance(init, ast.FunctionDef) else None
        if owner.decorator_list:
            return _of_dataclass(node.name, [k for _, k in reversed(family)])
    return Signature(node.name, (), frozenset(), frozenset(), frozenset(), False, False)


def ancestry(
    code: Code, source: Source, node: ast.ClassDef, depth: int = 8
) -> list[tuple[Source, ast.ClassDef]] | None:
    """The class and its bases, nearest first; None when one of them is not ours to read."""
    found = [(source, node)]
    for base in node.bases:
        target = resolve(code, source, base)
        if isinstance(base, ast.Name) and base.id in ("object", "ABC"):
            continue
        if not (isinstance(target, Definition) and isinstance(target.node, ast.ClassDef)) or not depth:
            return None
        above = ancestry(code, target.source, target.node, depth - 1)
        if above is None:
            return None
        found += above
    return found


def members(node: ast.ClassDef) -> dict[str, ast.AST]:
    """What a class's body defines by `def`, `class` or assignment; the last of equal names."""
    found: dict[str, ast.AST] = {}
    for statement in node.body:
        match statement:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found[name] = statement
            case ast.AnnAssign(target=ast.Name(id=name)):
                found[name] = statement
            case ast.Assign(targets=targets):
                found |= {t.id: statement for t in targets if isinstance(t, ast.Name)}
            case ast.If() | ast.Try() | ast.With():
                found |= {
                    n.name: n for n in ast.walk(statement) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)
                }
    return found


def resolve(code: Code, source: Source, expression: ast.expr) -> Resolved | None:
    """What a name, or a module's attribute, at module level is; None for anything else."""
    if source.module is None:
        return None
    match expression:
        case ast.Name(id=name):
            found = source.bindings(source.module).get(name, ())
            if len(found) != 1:
                return None
            binding = found[0]
            if binding.alias is not None:
                return code.imported(source, binding.node, binding.alias)
            return Definition(source, binding.node)
        case ast.Attribute(value=value, attr=attr):
            owner = resolve(code, source, value)
            return code.member(owner, attr) if isinstance(owner, Module) else None
    return None


def complaint(call: ast.Call, signature: Signature, partial: bool = False) -> str | None:
    """Why a call does not bind; None when it does, or when a `*` or `**` hides the answer."""
    positional = [a for a in call.args if not isinstance(a, ast.Starred)]
    starred = len(positional) < len(call.args)
    keywords = [k.arg for k in call.keywords if k.arg is not None]
    spread = len(keywords) < len(call.keywords)
    for name in keywords:
        if name not in signature.keywords and not signature.more_keywords:
            return f"`{signature.name}` has no parameter `{name}`"
    if len(positional) > len(signature.positional) and not signature.more_positional:
        return f"`{signature.name}` takes {len(signature.positional)} positional arguments, {len(positional)} are given"
    if starred:
        return None
    filled = set(signature.positional[: len(positional)])
    twice = [n for n in keywords if n in filled and n not in signature.positional_only]
    if twice:
        return f"`{signature.name}` is given `{twice[0]}` by position and by name"
    missing = [] if spread or partial else sorted(signature.required - filled - set(keywords))
    return f"`{signature.name}` is not given `{missing[0]}`" if missing else None


def _of_dataclass(name: str, family: list[ast.ClassDef]) -> Signature | None:
    """The generated `__init__` of a dataclass; `family` from the farthest base to the class."""
    fields: dict[str, bool] = {}
    keyword_only: set[str] = set()
    for owner in family:
        if not owner.decorator_list:
            return None
        options = {k.arg: k.value for d in owner.decorator_list if isinstance(d, ast.Call) for k in d.keywords}
        if isinstance(o := options.get("init"), ast.Constant) and o.value is False:
            return None
        only = isinstance(o := options.get("kw_only"), ast.Constant) and o.value is True
        for statement in owner.body:
            if not (isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)):
                continue
            kind = ast.unparse(statement.annotation)
            if "ClassVar" in kind:
                continue
            if "KW_ONLY" in kind:
                only = True
                continue
            field = statement.target.id
            settings = _field_settings(statement.value)
            if settings.get("init") == "False":
                continue
            has_default = statement.value is not None and (
                not settings or {"default", "default_factory"} & settings.keys()
            )
            fields[field] = bool(has_default)
            if only or settings.get("kw_only") == "True":
                keyword_only.add(field)
    return Signature(
        name=name,
        positional=tuple(f for f in fields if f not in keyword_only),
        positional_only=frozenset(),
        keywords=frozenset(fields),
        required=frozenset(f for f, default in fields.items() if not default),
        more_positional=False,
        more_keywords=False,
    )


def _field_settings(value: ast.expr | None) -> dict[str, str]:
    """The keywords of a `field(..)` default; empty for a plain one."""
    if isinstance(value, ast.Call) and _name(value) == "field":
        return {k.arg: ast.unparse(k.value) for k in value.keywords if k.arg} | {"field": ""}
    return {}


def _name(decorator: ast.expr) -> str:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
