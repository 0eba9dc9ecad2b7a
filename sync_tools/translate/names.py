"""The names pass: text by lines, identifiers, strings and comments alike.

One alternation (kept spans, whole words of the tables, casings of the renames) runs over the lines that hold a hint word,
so the time is linear in the text and nearly nothing where there is nothing to do. No replacement matches a pattern again.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property

from sync_tools.config import Config, Rename
from sync_tools.translate import rules
from sync_tools.translate.casing import Casing, casings
from sync_tools.translate.edits import Claims, Edit
from sync_tools.translate.rules import Rule

PROJECT, ENGINE, REPOSITORY = "SY201", "SY202", "SY204"
ENGINE_WORD = "sglang"
WORD_TABLES = ("names", "arguments")
TOKEN_LIMIT = 200
_BEFORE = r"(?:(?<![A-Za-z])|(?<=(?<!\\)\\[abfnrtv])|(?<=[a-z0-9])(?=[A-Z]))"
_NUMBERED = re.compile(r"/(?:pull|pulls|issues?|commits?|releases?|discussions|actions|compare|settings)\b|#\d")


@dataclass(frozen=True)
class Naming:
    """What the names pass needs of a configuration."""

    names: tuple[Rename, ...]
    repositories: tuple[tuple[str, str], ...]
    owner: str
    engine: bool

    @staticmethod
    def of(config: Config) -> "Naming":
        pairs = tuple((r.old, r.new) for r in config.repositories)
        return Naming(config.names, pairs, config.upstream.repo.split("/")[0], config.engine != "same")

    @cached_property
    def casings(self) -> dict[str, tuple[Casing, str]]:
        """Spelling -> (how it is replaced, the rule's code)."""
        found: dict[str, tuple[Casing, str]] = {}
        for rename in self.names:
            code = ENGINE if rename.old == ENGINE_WORD else PROJECT
            for casing in casings(rename.old, rename.new):
                found.setdefault(casing.old, (casing, code))
        return found

    @cached_property
    def words(self) -> dict[str, tuple[str, str]]:
        """Whole words of the tables -> (replacement, code)."""
        if not self.engine:
            return {}
        return {old: (new, r.code) for name in WORD_TABLES for r in rules.table(name) for old, new in r.rows().items()}

    @cached_property
    def patterns(self) -> tuple[Rule, ...]:
        """Rules that are a regular expression with one replacement, or (`report`) with none."""
        return tuple(r for name in WORD_TABLES for r in rules.table(name) if "pattern" in r.data) if self.engine else ()

    @cached_property
    def hints(self) -> tuple[str, ...]:
        """Words without which a line holds nothing to translate."""
        found = {*self.casings, *self.words, *(h for r in self.patterns for h in r.words("hints"))}
        found |= {old for old, _ in self.repositories}
        return tuple(sorted(w for w in found if not any(v != w and v in w for v in found)))

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        parts = [f"(?P<{r.code}>{r.data['pattern']})" for r in self.patterns]
        parts.append(f"(?P<keep>{'|'.join(self._kept())})")
        if self.words:
            parts.append(rf"(?P<word>(?<![\w-])(?:{_any(self.words)})(?![\w-]))")
        if self.casings:
            parts.append(rf"(?P<name>{_BEFORE}(?:{_any(self.casings)})(?![a-z]))")
        return re.compile("|".join(parts))

    @cached_property
    def inner(self) -> re.Pattern[str]:
        """The casings inside one token."""
        return re.compile(rf"{_BEFORE}(?:{_any(self.casings)})(?![a-z])")

    @cached_property
    def owned(self) -> re.Pattern[str]:
        """owner/name of the organisations whose names stand."""
        owners = {o for r in rules.table("protected") for o in r.words("owners")} | {self.owner}
        return re.compile(rf"(?<![\w.-])(?:{_any(owners)})/[\w.-]+(?::[\w.-]+)?")

    @cached_property
    def kept(self) -> re.Pattern[str]:
        """The spans of a line that keep their words."""
        return re.compile("|".join(self._kept()))

    def _kept(self) -> list[str]:
        kept = [
            str(r.data["pattern"])
            for r in rules.table("protected")
            if "pattern" in r.data and (self.engine or not r.data.get("engine"))
        ]
        kept.append(self.owned.pattern)
        kept += [rf"(?<![A-Za-z]){re.escape(old)}(?![\w-])" for old, _ in self.repositories]
        # A new name that holds its old one ("my-slime") would be renamed again.
        kept += [re.escape(c.alone) for c, _ in self.casings.values() if self.inner.search(c.alone)]
        return kept


def _any(words: object) -> str:
    return "|".join(re.escape(w) for w in sorted(words, key=lambda w: (-len(w), w)))  # type: ignore[call-overload]


@cache
def naming(config: Config) -> Naming:
    return Naming.of(config)


def hinted_lines(text: str, hints: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """The spans of the lines that hold a hint word, without their newlines, in order."""
    hits = set()
    for word in hints:
        at = text.find(word)
        while at >= 0:
            start = text.rfind("\n", 0, at) + 1
            hits.add(start)
            end = text.find("\n", at)
            at = text.find(word, end) if end >= 0 else -1
    for start in sorted(hits):
        end = text.find("\n", start)
        yield start, end if end >= 0 else len(text)


def rename(claims: Claims, naming: Naming) -> None:
    """Add the edits of the names pass to `claims`, outside what is claimed already."""
    text = claims.text
    for start, end in hinted_lines(text, naming.hints):
        at = start
        while match := naming.pattern.search(text, at, end):
            at = _apply(claims, naming, match, start, end)


def rename_all(text: str, naming: Naming) -> str:
    """The names pass on a text by itself."""
    claims = Claims(text)
    rename(claims, naming)
    return claims.apply()


def _apply(claims: Claims, naming: Naming, match: re.Match[str], start: int, end: int) -> int:
    """Deal with one match of the line start..end; where to search on."""
    kind, text = match.lastgroup or "", claims.text
    if kind == "keep":
        _keep(claims, naming, match)
        return max(match.end(), match.start() + 1)
    if kind == "name":
        left, right = _token(text, match.start(), match.end(), start, end)
        old = text[left:right]
        if right - left > TOKEN_LIMIT:
            left, right, old = match.start(), match.end(), ""
        new = naming.inner.sub(lambda m: _respell(naming, m, old), text[left:right])
        claims.edit(Edit(left, right, new, naming.casings[match[kind]][1]))
        return right
    if kind == "word":
        new, code = naming.words[match[kind]]
    else:
        code = kind
        rule = next(r for r in naming.patterns if r.code == code)
        if "report" in rule.data:
            return _leave(claims, match, str(rule.data["report"]))
        new = str(rule.data["replace"])
        new = new.capitalize() if match[0][:1].isupper() and new == "a" else new
    claims.edit(Edit(match.start(), match.end(), new, code))
    return max(match.end(), match.start() + 1)


def _leave(claims: Claims, match: re.Match[str], why: str) -> int:
    """Report what a rename would make untrue, and leave it."""
    if claims.free(match.start(), match.end()):
        claims.keep(match.start(), match.end())
        claims.site(match.start(), match.end(), match[0], why)
    return max(match.end(), match.start() + 1)


def _respell(naming: Naming, match: re.Match[str], token: str) -> str:
    casing, _ = naming.casings[match[0]]
    return casing.alone if match[0] == token else casing.joined


def _token(text: str, left: int, right: int, start: int, end: int) -> tuple[int, int]:
    """The identifier around left..right, within the line and within reason."""
    first, low, high = left, max(start, left - TOKEN_LIMIT - 1), min(end, right + TOKEN_LIMIT + 1)
    while left > low and _in_word(text[left - 1]):
        left -= 1
    while right < high and _in_word(text[right]):
        right += 1
    escaped = (
        left < first
        and text[max(start, left - 2) : left].endswith("\\")
        and text[max(start, left - 2) : left] != "\\\\"
    )
    return (left + 1 if escaped else left), right


def _in_word(char: str) -> bool:
    return char == "_" or (char.isascii() and char.isalnum())


def _keep(claims: Claims, naming: Naming, match: re.Match[str]) -> None:
    """A kept span; with configured repositories its owner/name is replaced, unless it is a reference by number."""
    span = match[0]
    for old, new in naming.repositories:
        at = span.find(old)
        if at < 0 or (span[at + len(old) :][:1].isalnum()) or _NUMBERED.search(span[at + len(old) :]):
            continue
        rest = span[at + len(old) :]
        claims.edit(Edit(match.start(), match.end(), span[:at] + new + rename_all(rest, naming), REPOSITORY, old, new))
        return
    claims.keep(match.start(), match.end())
