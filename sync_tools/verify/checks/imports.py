"""Every name that a touched file imports from our packages exists there, through re-exports, without importing anything."""

import ast
import sys
from collections.abc import Iterator

from sync_tools.verify import engine
from sync_tools.verify.code import Code, Module, Outcome
from sync_tools.verify.model import Context, Finding
from sync_tools.verify.source import Source

GUARDS = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})
FIX = "bring the missing part (`vime-sync port --bring PATH`), or import what the fork has instead"


def imports(context: Context) -> Iterator[Finding]:
    for source in context.files():
        reported = context.reported.get(source.path, frozenset())
        for node in source.nodes(ast.Import, ast.ImportFrom):
            if node.lineno not in reported and not is_guarded(source, node):
                yield from _of_statement(context, source, node)
        yield from _of_all(context.code, source)
        yield from _of_attributes(context.code, source)


def is_guarded(source: Source, node: ast.AST) -> bool:
    """Whether an import may fail: it stands in a `try` that catches that."""
    below = node
    for up in source.ancestors(node):
        if isinstance(up, ast.Try) and below in up.body and any(_catches(h) for h in up.handlers):
            return True
        below = up
    return False


def _catches(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(isinstance(t, ast.Name) and t.id in GUARDS for t in types)


def _of_statement(context: Context, source: Source, node: ast.Import | ast.ImportFrom) -> Iterator[Finding]:
    code = context.code
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield from _of_module(context, source, node, alias.name)
        return
    module = code.imported_from(source, node)
    if not isinstance(module, Module):
        dotted = "." * node.level + (node.module or "")
        if module is Outcome.MISSING:
            yield Finding(source.path, node.lineno, "imports.no-module", f"no module `{dotted}` in this tree", FIX)
        elif not node.level:
            yield from _of_module(context, source, node, dotted)
        return
    for alias in node.names:
        if alias.name != "*" and code.member(module, alias.name) is Outcome.MISSING:
            message = f"`{alias.name}` is not in {module.path or module.folder}"
            yield Finding(source.path, alias.lineno, "imports.no-name", message, FIX)


def _of_module(context: Context, source: Source, node: ast.AST, dotted: str) -> Iterator[Finding]:
    code = context.code
    if code.is_ours(dotted):
        if code.module(dotted) is None:
            yield Finding(source.path, node.lineno, "imports.no-module", f"no module `{dotted}` in this tree", FIX)
    elif any(dotted == absent or dotted.startswith(f"{absent}.") for absent in engine.load().absent_modules):
        message = f"`{dotted}` is not a module of vLLM's: a rename does not make it one"
        yield Finding(source.path, node.lineno, "imports.no-engine-module", message, "see the seam's table of imports")
    elif code.sibling(source.path, dotted) is None and _was_sibling(context, source.path, dotted):
        message = f"`{dotted}`, a file beside this one upstream, is not in this tree"
        yield Finding(source.path, node.lineno, "imports.no-sibling", message, FIX)


def _was_sibling(context: Context, path: str, dotted: str) -> bool:
    """Whether the fork before, or upstream, has the module beside a script."""
    if not context.code.is_script(path) or dotted.split(".", 1)[0] in sys.stdlib_module_names:
        return False
    folder = path.rpartition("/")[0]
    stem = f"{folder}/{dotted.replace('.', '/')}".removeprefix("/")
    known = context.code_before.paths | (context.upstream_tree.paths() if context.upstream_tree else frozenset())
    return f"{stem}.py" in known or f"{stem}/__init__.py" in known


def _of_all(code: Code, source: Source) -> Iterator[Finding]:
    if source.module is None or "__all__" not in source.words:
        return
    here = Module(source.path, source.path.removesuffix("/__init__.py") if source.path.endswith("/__init__.py") else "")
    for statement in source.module.body:
        if isinstance(statement, ast.Assign | ast.AugAssign) and isinstance(statement.value, ast.List | ast.Tuple):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if any(isinstance(t, ast.Name) and t.id == "__all__" for t in targets):
                for item in statement.value.elts:
                    if isinstance(item, ast.Constant) and code.member(here, str(item.value)) is Outcome.MISSING:
                        message = f"`__all__` lists `{item.value}`, which the module does not bind"
                        yield Finding(source.path, item.lineno, "imports.all", message, "remove it, or define it")


def _of_attributes(code: Code, source: Source) -> Iterator[Finding]:
    """`alias.name` where the alias is one of our modules and nothing else in the file binds it."""
    if source.module is None:
        return
    modules = _module_aliases(code, source)
    for node in source.nodes(ast.Attribute) if modules else ():
        if not (isinstance(node.value, ast.Name) and isinstance(node.ctx, ast.Load) and node.value.id in modules):
            continue
        module = modules[node.value.id]
        if code.member(module, node.attr) is Outcome.MISSING:
            message = f"`{node.attr}` is not in {module.path or module.folder}"
            yield Finding(source.path, node.lineno, "imports.no-attribute", message, FIX)


def _module_aliases(code: Code, source: Source) -> dict[str, Module]:
    found: dict[str, Module] = {}
    bound: set[str] = set()
    for node in source.nodes(ast.Import, ast.ImportFrom):
        for alias in node.names:
            if alias.name == "*" or (isinstance(node, ast.Import) and not alias.asname and "." in alias.name):
                continue
            target = code.imported(source, node, alias)
            if isinstance(target, Module) and target.path:
                found[alias.asname or alias.name] = target
            else:
                bound.add(alias.asname or alias.name)
    if not found:
        return {}
    bound |= {n.id for n in source.nodes(ast.Name) if not isinstance(n.ctx, ast.Load)}
    bound |= {n.arg for n in source.nodes(ast.arg)}
    bound |= {n.name for n in source.nodes(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)}
    return {name: module for name, module in found.items() if name not in bound}
