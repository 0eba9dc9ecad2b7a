"""No name of upstream's engine or package is left in code, strings, flags and comments of touched files.

Links, repositories, attribution, `sglang.*` modules that were left and reported, and files that translation keeps as they are
keep their words. In Markdown only code
counts: prose may speak of upstream.
"""

import ast
import re
from collections.abc import Iterator

from sync_tools.translate.kinds import profile
from sync_tools.verify import engine
from sync_tools.verify.model import Context, Finding
from sync_tools.verify.source import MARKDOWN, Source

SKIPPED = frozenset({".patch", ".diff", ".lock", ".svg", ".csv", ".jsonl"})
FENCE = re.compile(r"^\s*(```|~~~)")
SPAN = re.compile(r"(`+)(.+?)\1")
FLAG = re.compile(r"(?<![\w-])--[\w-]+")


def residue(context: Context) -> Iterator[Finding]:
    old = [r.old for r in context.config.names if r.old.lower() != r.new.lower()]
    if not old:
        return
    words = re.compile("|".join(re.escape(w) for w in old), re.IGNORECASE)
    for source in context.files():
        kept = source.suffix in SKIPPED or profile(source.path, engine=context.config.engine != "same").kept
        if not kept and words.search(source.text):
            yield from _in(source, words, context)


def _in(source: Source, words: re.Pattern[str], context: Context) -> Iterator[Finding]:
    facts = engine.load()
    kept = _kept_names(source, facts.kept_modules)
    reported = context.reported.get(source.path, frozenset())
    for number, line in _code_lines(source):
        if number in reported or not words.search(line) or facts.attribution.search(line):
            continue
        plain = facts.protected.sub(lambda m: " " * len(m[0]), line)
        for m in re.finditer(r"[\w-]+", plain):
            if words.search(m[0]) and not (kept & set(re.findall(r"\w+", m[0]))):
                message = f"`{m[0]}` still has upstream's name"
                yield Finding(source.path, number, "residue.name", message, "translate it, or protect it in sync.toml")


def _kept_names(source: Source, modules: tuple[str, ...]) -> frozenset[str]:
    """The engine's modules that the file still imports, and what it imports from them."""
    names: set[str] = set()
    for node in source.nodes(ast.Import, ast.ImportFrom):
        roots = [node.module or ""] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]
        if any(root.split(".")[0] in modules for root in roots):
            names |= {root.split(".")[0] for root in roots}
            names |= {n for a in node.names for n in (a.asname, a.name) if n}
    return frozenset(names)


def _code_lines(source: Source) -> Iterator[tuple[int, str]]:
    """The lines that count, by number: all of a program, the code and the flags of Markdown."""
    if source.suffix not in MARKDOWN:
        yield from enumerate(source.lines, 1)
        return
    fenced = False
    for number, line in enumerate(source.lines, 1):
        if FENCE.match(line):
            fenced = not fenced
        elif fenced:
            yield number, line
        else:
            yield number, " ".join([m[2] for m in SPAN.finditer(line)] + FLAG.findall(SPAN.sub(" ", line)))
