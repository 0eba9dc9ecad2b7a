"""What a port took away: files, modules, definitions, options of a parser."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from sync_tools.verify.code import Code, Module, Outcome
from sync_tools.verify.source import PYTHON, Source


@dataclass(frozen=True)
class RemovedFile:
    """`name` is its base name when no other file has it; `module` its dotted name when it was Python."""

    path: str
    name: str | None
    module: str | None


@dataclass(frozen=True)
class RemovedName:
    """A definition that no longer stands in its module (`path`, `module`); `gone` when nothing in the tree binds it."""

    path: str
    module: str
    name: str
    gone: bool


@dataclass(frozen=True)
class RemovedOption:
    path: str
    flag: str


Removed = RemovedFile | RemovedName | RemovedOption


def removed(before: Code, after: Code, touched: frozenset[str]) -> tuple[Removed, ...]:
    """What the touched files had before and have no more; what they only moved elsewhere is not `gone`."""
    found: list[Removed] = []
    for path in sorted(touched & before.paths):
        old, new = before.source(path), after.source(path)
        if path not in after.paths:
            found.append(_file(after, path))
        if old is None or old.module is None or (new is not None and new.module is None):
            continue
        found += _names(after, old, new)
        flags = sorted(_options(old) - _options(new))
        found += [RemovedOption(path, flag) for flag in flags if not after.defines_option(flag)]
    return tuple(found)


def dotted(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _file(after: Code, path: str) -> RemovedFile:
    name = PurePosixPath(path).name
    alone = not any(p.endswith(f"/{name}") or p == name for p in after.paths)
    return RemovedFile(path, name if alone else None, dotted(path) if path.endswith(".py") else None)


def _names(after: Code, old: Source, new: Source | None) -> Iterator[RemovedName]:
    if PurePosixPath(old.path).name.startswith("test_"):
        return
    left = defined(new) if new else frozenset()
    for name in sorted(defined(old) - left):
        yield RemovedName(old.path, dotted(old.path), name, not _stands_elsewhere(after, name, old.path))


def _stands_elsewhere(code: Code, name: str, path: str) -> bool:
    """Whether any Python text still seems to bind the name, at any level, or imports it from somewhere else."""
    word = re.escape(name)
    binds = re.compile(rf"\b(?:def|class|as|for)\s+{word}\b|\b{word}\s*(?::[^=\n]+)?=(?!=)|\b{word},.*=(?!=)")
    return any(binds.search(s.text) or _imports(code, s, name, path) for s in code.mentioning(name, PYTHON))


def _imports(code: Code, source: Source, name: str, path: str) -> bool:
    if not re.search(rf"^\s*(?:from\s.*\bimport\b.*\b{name}\b|{name}\s*,?\s*(?:#.*)?$)", source.text, re.MULTILINE):
        return False
    nodes = [n for n in source.nodes(ast.ImportFrom) if any(a.name == name for a in n.names)]
    modules = [code.imported_from(source, node) for node in nodes]
    return any(not (isinstance(m, Module) and m.path == path) and m is not Outcome.MISSING for m in modules)


def defined(source: Source) -> frozenset[str]:
    """Functions, classes and constants that a module defines (its imports are not its definitions)."""
    if source.module is None:
        return frozenset()
    bound = source.bindings(source.module)
    return frozenset(n for n, places in bound.items() if any(b.alias is None for b in places))


def _options(source: Source | None) -> set[str]:
    if source is None or "add_argument" not in source.words:
        return set()
    calls = [c for c in source.nodes(ast.Call) if getattr(c.func, "attr", "") == "add_argument"]
    given = {a.value for c in calls for a in c.args if isinstance(a, ast.Constant) and isinstance(a.value, str)}
    return {flag for flag in given if flag.startswith("--")}
