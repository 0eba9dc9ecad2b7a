"""Nothing in the tree names a definition, a file, a module or an option that the port removed, and no touched file uses
a name that it no longer binds.

Registries, dotted strings, shell scripts, docs and CI rows are searched too, once over the tree for each thing removed.
"""

import ast
import builtins
import re
from collections.abc import Iterator

from sync_tools.verify.code import Code, Module
from sync_tools.verify.model import Context, Finding
from sync_tools.verify.removed import Removed, RemovedFile, RemovedName, RemovedOption, removed
from sync_tools.verify.source import PYTHON, Source

FIX = "name what replaced it, or keep it"
ALWAYS_BOUND = frozenset(dir(builtins)) | {"__file__", "__name__", "__doc__", "__path__", "__spec__", "__class__"}
SPECIFIC = re.compile(r"(?=.{6,})(?:[A-Za-z]\w*_\w+|_\w+|[A-Z]\w*[a-z]\w*[A-Z]\w*)$")


def dangling(context: Context) -> Iterator[Finding]:
    for gone in removed(context):
        yield from _mentions(context, gone)
    for source in context.files():
        yield from _undefined(source)


def _mentions(context: Context, gone: Removed) -> Iterator[Finding]:
    match gone:
        case RemovedFile():
            yield from _of_file(context, gone)
        case RemovedOption(flag=flag):
            pattern = re.compile(rf"(?<![\w-]){re.escape(flag)}(?![\w-])")
            yield from _search(context, flag, pattern, "dangling.option", f"the option `{flag}` was removed")
        case RemovedName():
            yield from _of_name(context, gone)


def _of_file(context: Context, gone: RemovedFile) -> Iterator[Finding]:
    word = gone.name or gone.path
    ahead = r"(?<![\w.-])(?:[\w.${}/-]*/)?" if gone.name else r"(?<![\w/-])(?:\./)?"
    pattern = re.compile(rf"{ahead}{re.escape(word)}(?![\w-])")
    yield from _search(context, word, pattern, "dangling.file", f"`{gone.path}` was removed")
    if gone.module and context.code.is_ours(gone.module):
        pattern = re.compile(rf"(?<![\w.]){re.escape(gone.module)}(?!\w)")
        said = f"the module `{gone.module}` was removed"
        yield from _search(context, gone.module, pattern, "dangling.module", said)
    elif gone.module:
        yield from _of_sibling(context, gone)


def _of_sibling(context: Context, gone: RemovedFile) -> Iterator[Finding]:
    """A script's neighbours name it by its bare name, in an import or as `stem.function`."""
    folder, _, stem = gone.path.removesuffix(".py").rpartition("/")
    pattern = re.compile(rf"(?<![\w./-]){re.escape(stem)}\.[A-Za-z_]\w*|(?:from|import)\s+{re.escape(stem)}(?!\w)")
    near = [s for s in context.code.mentioning(stem) if s.path.rpartition("/")[0] == folder]
    for source in near:
        for m in pattern.finditer(source.text):
            if not m[0].endswith(".py"):
                said = f"the module `{stem}` was removed"
                yield Finding(source.path, source.line_at(m.start()), "dangling.module", said, FIX)


def _of_name(context: Context, gone: RemovedName) -> Iterator[Finding]:
    said = f"`{gone.name}` was removed from {gone.path}"
    full = f"{gone.module}.{gone.name}"
    pattern = re.compile(rf"(?<![\w.]){re.escape(full)}(?!\w)")
    yield from _search(context, full, pattern, "dangling.name", said)
    yield from _importers(context, gone, said)
    if gone.gone and SPECIFIC.match(gone.name):
        pattern = re.compile(rf"(?<![\w.-]){re.escape(gone.name)}(?![\w-])|(?<=[\w)\]]\.){re.escape(gone.name)}(?!\w)")
        for finding in _search(context, gone.name, pattern, "dangling.name", said):
            if context.code.source(finding.path).suffix not in PYTHON or _is_code_or_key(
                context.code, finding, gone.name
            ):
                yield finding


def _importers(context: Context, gone: RemovedName, said: str) -> Iterator[Finding]:
    """Untouched files that import the name from the module, or read it from an alias of the module."""
    if gone.path not in context.code.paths:
        return
    for source in context.code.mentioning(gone.name, PYTHON):
        if source.path in context.touched:
            continue
        for node in source.nodes(ast.ImportFrom):
            names = [a for a in node.names if a.name == gone.name]
            if names and isinstance(m := context.code.imported_from(source, node), Module) and m.path == gone.path:
                yield Finding(source.path, names[0].lineno, "dangling.name", said, FIX)


def _is_code_or_key(code: Code, finding: Finding, name: str) -> bool:
    """Whether the line uses the name as code, or as a whole string (a registry's key), not in prose."""
    source = code.source(finding.path)
    uses = [n for n in source.nodes(ast.Name) if n.id == name] + [
        n for n in source.nodes(ast.Attribute) if n.attr == name
    ]
    whole = [n for n in source.nodes(ast.Constant) if n.value == name]
    return any(n.lineno <= finding.line <= (n.end_lineno or n.lineno) for n in uses + whole)


def _search(context: Context, word: str, pattern: re.Pattern[str], rule: str, said: str) -> Iterator[Finding]:
    """A finding for each line, outside the ledgers, on which the pattern stands."""
    ledgers = context.config.ledgers.rstrip("/") + "/"
    for source in context.code.mentioning(word):
        if source.path.startswith(ledgers) or source.path == context.config.ci.workflow:
            continue
        for line in dict.fromkeys(source.line_at(m.start()) for m in pattern.finditer(source.text)):
            if not (source.suffix in PYTHON and source.path in context.touched and _is_import(source, line)):
                yield Finding(source.path, line, rule, said, FIX)


def _is_import(source: Source, line: int) -> bool:
    """Whether a line belongs to an import statement: in touched files those are the imports check's."""
    nodes = source.nodes(ast.Import, ast.ImportFrom)
    return any(n.lineno <= line <= (n.end_lineno or n.lineno) for n in nodes)


def _undefined(source: Source) -> Iterator[Finding]:
    """Names that are read and that no scope of the file binds."""
    if source.module is None or any(a.name == "*" for n in source.nodes(ast.ImportFrom) for a in n.names):
        return
    bound = set(ALWAYS_BOUND)
    for scope in source.scopes():
        bound |= source.bindings(scope).keys()
    bound |= {name for n in source.nodes(ast.Global, ast.Nonlocal) for name in n.names}
    seen: set[str] = set()
    for node in source.nodes(ast.Name):
        if isinstance(node.ctx, ast.Load) and node.id not in bound and node.id not in seen:
            seen.add(node.id)
            message = f"`{node.id}` is used and nothing in this file binds it"
            yield Finding(source.path, node.lineno, "dangling.undefined", message, "import it, or define it")
