"""Where upstream's names are left in a file: in code, strings, flags and comments.

They are the old names that a translation would leave without a reason (`translate.standing`), and the engine's modules.
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
from sync_tools.translate.standing import MODULES, Standing, standing
from sync_tools.translate.text.markdown import kept_languages
from sync_tools.verify import engine
from sync_tools.verify.source import MARKDOWN, Source

SKIPPED = frozenset({".patch", ".diff", ".lock", ".svg", ".csv", ".jsonl"})
FENCE = re.compile(r"^\s*(```+|~~~+)\s*(\S*)")
WORD = re.compile(r"[\w-]+")
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
    where = profile(source.path, engine=config.engine != "same")
    if where.kept or source.suffix in SKIPPED or own(config, source.path) or not words.search(source.text):
        return
    foreign = _foreign(source, engine.load().kept_modules)
    counted = _code_of_markdown(source) if source.suffix in MARKDOWN else None
    last = None
    for name in standing(source.text, (), naming(config), where):
        line = source.line(name.line)
        spans = [range(len(line))] if counted is None else counted.get(name.line, [])
        start, word = _word(line, name)
        if (name.line, start) == last or name.reason not in (None, MODULES):
            continue
        last = name.line, start
        code = " ".join(line[span.start : span.stop] for span in spans)
        if not any(name.column in span for span in spans) or engine.load().attribution.search(code):
            continue
        if name.reason == MODULES:
            yield Leftover(source.path, name.line, name.name, foreign=True)
        elif words.search(word):
            yield Leftover(source.path, name.line, word, bool(foreign & set(re.findall(r"\w+", word))))


def _word(line: str, name: Standing) -> tuple[int, str]:
    """The word that holds a name, without the dots around it, and where it begins."""
    held = next((m for m in WORD.finditer(line) if m.start() <= name.column < m.end()), None)
    return (held.start(), held[0]) if held else (name.column, name.name)


def _foreign(source: Source, modules: tuple[str, ...]) -> frozenset[str]:
    """The engine's modules that the file still imports, and what it imports from them."""
    found: set[str] = set()
    for node in source.nodes(ast.Import, ast.ImportFrom):
        roots = [node.module or ""] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]
        if any(root.split(".")[0] in modules for root in roots):
            found |= {root.split(".")[0] for root in roots}
            found |= {n for a in node.names for n in (a.asname, a.name) if n}
    return frozenset(found)


def _code_of_markdown(source: Source) -> dict[int, list[range]]:
    """The lines that hold code or flags, by number, with where on them it stands."""
    found: dict[int, list[range]] = {}
    fenced, kept = False, False
    for number, line in enumerate(source.lines, 1):
        if fence := FENCE.match(line):
            fenced, kept = not fenced, fence[2] in kept_languages()
        elif fenced and not kept:
            found[number] = [range(len(line))]
        elif not fenced:
            plain = SPAN.sub(lambda m: " " * len(m[0]), line)
            spans = [*(m.span(2) for m in SPAN.finditer(line)), *(m.span() for m in FLAG.finditer(plain))]
            found[number] = [range(*span) for span in spans]
    return found
