"""What a port took away: files, modules, definitions, options of a parser."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from sync_tools.verify.model import Context
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


def removed(context: Context) -> list[Removed]:
    found: list[Removed] = []
    for path in sorted(context.touched & context.code_before.paths):
        now, before = context.code.source(path), context.code_before.source(path)
        if path not in context.code.paths:
            found.append(_file(context, path))
        if before is None or before.module is None or (now is not None and now.module is None):
            continue
        found += _names(context, before, now)
        found += [RemovedOption(path, flag) for flag in sorted(_options(before) - _options(now))]
    return [r for r in found if not (isinstance(r, RemovedOption) and context.code.defines_option(r.flag))]


def mentions(context: Context, word: str, pattern: re.Pattern[str]) -> Iterator[tuple[Source, int]]:
    """The places, outside the ledgers and the generated workflow, where a pattern that holds `word` stands."""
    ledgers = context.config.ledgers.rstrip("/") + "/"
    for source in context.code.mentioning(word):
        if not source.path.startswith(ledgers) and source.path != context.config.ci.workflow:
            for line in dict.fromkeys(source.line_at(m.start()) for m in pattern.finditer(source.text)):
                yield source, line


def dotted(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _file(context: Context, path: str) -> RemovedFile:
    name = PurePosixPath(path).name
    alone = not any(p.endswith(f"/{name}") or p == name for p in context.code.paths)
    return RemovedFile(path, name if alone else None, dotted(path) if path.endswith(".py") else None)


def _names(context: Context, before: Source, now: Source | None) -> Iterator[RemovedName]:
    if PurePosixPath(before.path).name.startswith("test_"):
        return
    left = defined(now) if now else frozenset()
    for name in sorted(defined(before) - left):
        yield RemovedName(before.path, dotted(before.path), name, not _stands_elsewhere(context, name))


def _stands_elsewhere(context: Context, name: str) -> bool:
    """Whether any Python text still seems to bind the name, at any level."""
    word = re.escape(name)
    binds = re.compile(rf"\b(?:def|class|as|for)\s+{word}\b|\b{word}\s*(?::[^=\n]+)?=(?!=)|\b{word},.*=(?!=)")
    return any(binds.search(s.text) for s in context.code.mentioning(name, PYTHON))


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
