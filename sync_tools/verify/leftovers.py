"""Where upstream's names are left in a file: in code, strings, flags and comments.

Links, repositories, attribution, and what translation keeps as it is (whole files, other people's names) keep their words.
In Markdown only code counts: prose may speak of upstream.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from sync_tools.config import Config
from sync_tools.policy import CONFIGURATION
from sync_tools.translate.kinds import profile
from sync_tools.translate.names import naming
from sync_tools.translate.text.markdown import kept_languages
from sync_tools.verify import engine
from sync_tools.verify.source import MARKDOWN, Source

SKIPPED = frozenset({".patch", ".diff", ".lock", ".svg", ".csv", ".jsonl"})
FENCE = re.compile(r"^\s*(```+|~~~+)\s*(\S*)")
SPAN = re.compile(r"(`+)(.+?)\1")
FLAG = re.compile(r"(?<![\w-])--[\w-]+")


@dataclass(frozen=True, order=True)
class Leftover:
    """One place of a name of upstream's, with the whole word that holds it; `line` is 1-based.

    `foreign`: a module of the old engine, or what the file imports from one. It has no twin, so that a port reports it as
    a site and not as residue.
    """

    path: str
    line: int
    word: str
    foreign: bool = False


def names(config: Config) -> re.Pattern[str] | None:
    """Any of upstream's names in any casing; None where the fork keeps them all."""
    old = [r.old for r in config.names if r.old.lower() != r.new.lower()]
    return re.compile("|".join(re.escape(w) for w in old), re.IGNORECASE) if old else None


def own(config: Config, path: str) -> bool:
    """Whether a file is this tool's own: the configuration, the budget, the ledgers."""
    return path in (CONFIGURATION, config.residue) or path.startswith(f"{config.ledgers}/")


def leftovers(source: Source, words: re.Pattern[str], config: Config) -> Iterator[Leftover]:
    """The places of a file, in order."""
    kept = source.suffix in SKIPPED or profile(source.path, engine=config.engine != "same").kept
    if kept or own(config, source.path) or not words.search(source.text):
        return
    facts, protected = engine.load(), naming(config).kept
    foreign = _foreign(source, facts.kept_modules)
    for number, line in _code_lines(source):
        if not words.search(line) or facts.attribution.search(line):
            continue
        plain = facts.protected.sub(_blank, line)
        for module in facts.modules.finditer(plain):
            if words.search(module[0]):
                yield Leftover(source.path, number, module[0], foreign=True)
        for m in re.finditer(r"[\w-]+", protected.sub(_blank, facts.modules.sub(_blank, plain))):
            if words.search(m[0]):
                yield Leftover(source.path, number, m[0], bool(foreign & set(re.findall(r"\w+", m[0]))))


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _foreign(source: Source, modules: tuple[str, ...]) -> frozenset[str]:
    """The engine's modules that the file still imports, and what it imports from them."""
    found: set[str] = set()
    for node in source.nodes(ast.Import, ast.ImportFrom):
        roots = [node.module or ""] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]
        if any(root.split(".")[0] in modules for root in roots):
            found |= {root.split(".")[0] for root in roots}
            found |= {n for a in node.names for n in (a.asname, a.name) if n}
    return frozenset(found)


def _code_lines(source: Source) -> Iterator[tuple[int, str]]:
    """The lines that count, by number: all of a program, the code and the flags of Markdown."""
    if source.suffix not in MARKDOWN:
        yield from enumerate(source.lines, 1)
        return
    fenced, kept = False, False
    for number, line in enumerate(source.lines, 1):
        if fence := FENCE.match(line):
            fenced, kept = not fenced, fence[2] in kept_languages()
        elif fenced and not kept:
            yield number, line
        elif not fenced:
            yield number, " ".join([m[2] for m in SPAN.finditer(line)] + FLAG.findall(SPAN.sub(" ", line)))
