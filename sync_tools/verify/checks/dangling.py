"""No program in the tree names a definition, a file or a module that the port removed, and no touched file uses a name that it
no longer binds.

Registries, dotted strings, shell scripts and CI rows are searched too, once over the tree for each thing removed.
Documentation is the links check's, options are the arguments check's.
"""

import ast
import builtins
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from sync_tools.verify.checks.imports import is_guarded
from sync_tools.verify.code import Module, Outcome
from sync_tools.verify.model import Context, Finding
from sync_tools.verify.removed import Removed, RemovedFile, RemovedName
from sync_tools.verify.scopes import SCOPES
from sync_tools.verify.source import MARKDOWN, PYTHON, Source

FIX = "name what replaced it, or keep it"
ALWAYS_BOUND = frozenset(dir(builtins)) | {"__file__", "__name__", "__doc__", "__path__", "__spec__", "__class__"}
# A name that can't be an ordinary word: with an underscore inside or before it, or in mixed case.
SPECIFIC = re.compile(r"(?=.{6,})(?:[A-Za-z]\w*_\w+|_\w+|[A-Z]\w*[a-z]\w*[A-Z]\w*)$")


def dangling(context: Context) -> Iterator[Finding]:
    found = [f for gone in context.removed for f in _named(context, gone)]
    yield from dict.fromkeys(found)
    for source in context.files():
        yield from _undefined(source)


def pattern_of_file(gone: RemovedFile) -> tuple[str, re.Pattern[str]]:
    """What to search for a removed file: its name where no other file has it, else its whole path."""
    if gone.name:
        return gone.name, re.compile(rf"(?<![\w.-])(?:[\w.${{}}/-]*/)?{re.escape(gone.name)}(?![\w-])")
    return gone.path, re.compile(rf"(?<![\w/-])(?:\./)?{re.escape(gone.path)}(?![\w-])")


def pattern_of_dotted(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.]){re.escape(name)}(?!\w)")


def _named(context: Context, gone: Removed) -> Iterator[Finding]:
    match gone:
        case RemovedFile(path=path, module=module):
            yield from _search(context, *pattern_of_file(gone), "dangling.file", f"`{path}` was removed")
            said = f"the module `{module}` was removed"
            if module and context.code.is_ours(module):
                yield from _search(context, module, pattern_of_dotted(module), "dangling.module", said)
                yield from _module_importers(context, path, said)
            elif module:
                yield from _of_sibling(context, path)
        case RemovedName(module=module, name=name, path=path):
            said = f"`{name}` was removed from {path}"
            full = f"{module}.{name}"
            yield from _search(context, full, pattern_of_dotted(full), "dangling.name", said)
            yield from _importers(context, gone, said)
            if gone.gone and SPECIFIC.match(name):
                yield from _last_uses(context, name, said)


def _search(context: Context, word: str, pattern: re.Pattern[str], rule: str, said: str) -> Iterator[Finding]:
    for source, line in context.mentions(word, pattern):
        imported = source.path in context.touched and _is_import(source, line)
        if source.suffix not in MARKDOWN and not imported and not _is_comment(source, line):
            yield Finding(source.path, line, rule, said, FIX)


def _is_import(source: Source, line: int) -> bool:
    """Whether a line belongs to an import statement: in touched files those are the imports check's."""
    nodes = source.nodes(ast.Import, ast.ImportFrom)
    return any(n.lineno <= line <= (n.end_lineno or n.lineno) for n in nodes)


def _is_comment(source: Source, line: int) -> bool:
    return source.line(line).lstrip().startswith("#")


def _of_sibling(context: Context, path: str) -> Iterator[Finding]:
    """A script's neighbours name it by its bare name, in an import or as `stem.function`."""
    folder, _, name = path.removesuffix(".py").rpartition("/")
    stem = re.escape(name)
    imported, used = rf"^[ \t]*(?:from|import)\s+{stem}(?!\w)", rf"(?<![\w./-]){stem}\.(?!py\b)[A-Za-z_]"
    pattern = re.compile(f"{imported}|{used}", re.MULTILINE)
    for source in context.code.mentioning(name):
        if source.path.rpartition("/")[0] != folder or source.suffix in MARKDOWN:
            continue
        for m in pattern.finditer(source.text):
            line = source.line_at(m.start())
            yield Finding(source.path, line, "dangling.module", f"the module `{name}` was removed", FIX)


def _module_importers(context: Context, path: str, said: str) -> Iterator[Finding]:
    """Untouched files that import a removed module without its dotted name: from its package, or relatively."""
    before, after = context.code_before, context.code
    for source in after.mentioning(PurePosixPath(path).stem, PYTHON):
        if source.path in context.touched:
            continue
        for node in source.nodes(ast.ImportFrom):
            whole = _is_module(before.imported_from(source, node), path)
            names = [a for a in node.names if whole or _is_module(before.imported(source, node, a), path)]
            if any(after.imported(source, node, a) is Outcome.MISSING for a in names) and not is_guarded(source, node):
                yield Finding(source.path, node.lineno, "dangling.module", said, FIX)


def _is_module(found: object, path: str) -> bool:
    return isinstance(found, Module) and found.path == path


def _importers(context: Context, gone: RemovedName, said: str) -> Iterator[Finding]:
    """Untouched files that import the name from the module that no longer has it."""
    if gone.path not in context.code.paths:
        return
    for source in context.code.mentioning(gone.name, PYTHON):
        if source.path in context.touched:
            continue
        for node in source.nodes(ast.ImportFrom):
            names = [a for a in node.names if a.name == gone.name]
            if names and isinstance(m := context.code.imported_from(source, node), Module) and m.path == gone.path:
                yield Finding(source.path, names[0].lineno, "dangling.name", said, FIX)


def _last_uses(context: Context, name: str, said: str) -> Iterator[Finding]:
    """Uses of a name that nothing in the tree binds any more: as code, or as a whole string (a registry's key)."""
    word = re.escape(name)
    pattern = re.compile(rf"(?<![\w.-]){word}(?![\w-])|(?<=[\w)\]]\.){word}(?!\w)")
    for finding in _search(context, name, pattern, "dangling.name", said):
        source = context.code.source(finding.path)
        # A constant's name in a string or a script is most often an environment variable's.
        if _is_used(source, finding.line, name) if source.suffix in PYTHON else not name.isupper():
            yield finding


def _is_used(source: Source, line: int, name: str) -> bool:
    used = [n for n in source.nodes(ast.Name) if n.id == name] + [
        n for n in source.nodes(ast.Attribute) if n.attr == name
    ]
    whole = [n for n in source.nodes(ast.Constant) if n.value == name and not name.isupper()]
    return any(n.lineno <= line <= (n.end_lineno or n.lineno) for n in used + whole)


def _undefined(source: Source) -> Iterator[Finding]:
    """Names that are read where no scope around them binds them."""
    if source.module is None or any(a.name == "*" for n in source.nodes(ast.ImportFrom) for a in n.names):
        return
    anywhere = {name for n in source.nodes(ast.Global, ast.Nonlocal) for name in n.names}
    anywhere |= {n.target.id for n in source.nodes(ast.NamedExpr) if isinstance(n.target, ast.Name)}
    seen: set[str] = set()
    for node in sorted(_unbound(source, source.module, ALWAYS_BOUND | anywhere), key=lambda n: n.lineno):
        if node.id not in seen:
            seen.add(node.id)
            message = f"`{node.id}` is used and nothing in this file binds it there"
            yield Finding(source.path, node.lineno, "dangling.undefined", message, "import it, or define it")


def _unbound(source: Source, scope: ast.AST, around: frozenset[str]) -> Iterator[ast.Name]:
    """The reads in a scope of what neither it nor one around it binds. What is evaluated outside of a function (its
    defaults, its decorators) is taken to see the function's names too: no finding is better than a wrong one."""
    bound = around | source.bindings(scope).keys()
    stack = list(ast.iter_child_nodes(scope))
    while stack:
        node = stack.pop()
        if isinstance(node, SCOPES):
            yield from _unbound(source, node, bound)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in bound:
            yield node
        else:
            stack += ast.iter_child_nodes(node)
