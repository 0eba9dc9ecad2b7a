"""Old names that a translation left standing, each with what keeps it there; one that nothing keeps is a finding.

A reason is the code of a rule that protects the place, `unresolved` where the translation reported it, or None.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from sync_tools.translate import rules
from sync_tools.translate.edits import Lines
from sync_tools.translate.kinds import Profile
from sync_tools.translate.names import Naming, hinted_lines
from sync_tools.translate.result import Site
from sync_tools.translate.text.markdown import kept_languages, pieces

UNRESOLVED, KEPT_FILE, OWNERS, MODULES = "unresolved", "SY297", "SY293", "SY296"
_ENGINE_WORDS = ("sgl_", "sgl-", "SGL_")
_TOKEN = re.compile(r"[\w.:-]*")


@dataclass(frozen=True, order=True)
class Standing:
    """One old name at its place in the translated text; `reason` is None where nothing keeps it."""

    line: int
    column: int
    name: str
    reason: str | None


def standing(text: str, sites: Sequence[Site], naming: Naming, where: Profile) -> tuple[Standing, ...]:
    """The old names of a translated text, which stands at a place of that profile."""
    pattern, words = _old_names(naming)
    found = [m for start, end in hinted_lines(text, words) for m in pattern.finditer(text, start, end)]
    if not found:
        return ()
    lines = Lines.of(text)
    reported = " ".join(site.what for site in sites)
    blocks = _kept_blocks(text) if where.kind == "markdown" else ()

    def reason(m: re.Match[str]) -> str | None:
        if where.kept:
            return KEPT_FILE
        block = next((code for start, end, code in blocks if start <= m.start() < end), None)
        return block or _reason(text, m, lines, reported, naming)

    return tuple(Standing(*lines.at(m.start()), _token(text, m), reason(m)) for m in found)


def _kept_blocks(text: str) -> tuple[tuple[int, int, str], ...]:
    code = next(iter(kept_languages().values()), "")
    return tuple((piece.start, piece.end, code) for piece in pieces(text) if piece.kind == "kept")


def _reason(text: str, m: re.Match[str], lines: Lines, reported: str, naming: Naming) -> str | None:
    start = lines.starts[bisect_right(lines.starts, m.start()) - 1]
    end = text.find("\n", start)
    end = end if end >= 0 else len(text)
    for code, pattern in protections(naming):
        if any(span.start() <= m.start() < span.end() for span in pattern.finditer(text, start, end)):
            return code
    token = _token(text, m)
    return UNRESOLVED if token and token in reported else None


def _token(text: str, m: re.Match[str]) -> str:
    """The word that holds the match, with the dots, colons and dashes of a module, a metric or a flag."""
    left = m.start()
    while left and _TOKEN.fullmatch(text[left - 1]):
        left -= 1
    end = _TOKEN.match(text, m.end())
    return text[left : end.end() if end else m.end()].strip(".:-")


@cache
def _old_names(naming: Naming) -> tuple[re.Pattern[str], tuple[str, ...]]:
    """A pattern of the old names in all their casings, and the words without which a line holds none."""
    words = [spelling for spelling, (casing, _) in naming.casings.items() if spelling not in casing.alone]
    engine = _ENGINE_WORDS if naming.engine else ()
    return re.compile("|".join([*map(re.escape, words), *(rf"(?<![A-Za-z]){w}" for w in engine)])), (*words, *engine)


@cache
def protections(naming: Naming) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """What keeps spans of a line as they are: the code of the rule, and its pattern."""
    return tuple(_each(naming))


def _each(naming: Naming) -> Iterator[tuple[str, re.Pattern[str]]]:
    for rule in rules.table("protected"):
        if "pattern" in rule.data and (naming.engine or not rule.data.get("engine")):
            yield rule.code, re.compile(str(rule.data["pattern"]))
    yield OWNERS, naming.owned
