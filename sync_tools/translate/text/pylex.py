"""String literals and comments of Python text, found without parsing it: what the text passes need, in linear time."""

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

_OPEN = re.compile(r"#[^\n]*|(?P<prefix>(?<![A-Za-z0-9_])[rRbBfFuUtT]{1,2})?(?P<quote>\"\"\"|'''|\"|')")
_CLOSE = {
    '"': re.compile(r'[^"\\\n]*(?:\\.[^"\\\n]*)*"', re.DOTALL),
    "'": re.compile(r"[^'\\\n]*(?:\\.[^'\\\n]*)*'", re.DOTALL),
    '"""': re.compile(r'[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"""', re.DOTALL),
    "'''": re.compile(r"[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'''", re.DOTALL),
}
_BRACKET = re.compile(r"[()\[\]{}]")
_CALLED = re.compile(r"[\w\])]$")
_KEYWORD = re.compile(r"\b(?:in|return|yield|and|or|not|if|else|assert)$")
_GAP = re.compile(r"(?:\s|\\\r?\n|#[^\n]*\n)*")


@dataclass(frozen=True)
class Region:
    """A comment (empty quote) or a string literal; `inner` is what stands between its quotes."""

    start: int
    end: int
    prefix: str = ""
    quote: str = ""

    @property
    def comment(self) -> bool:
        return not self.quote

    @property
    def long(self) -> bool:
        return len(self.quote) == 3

    @property
    def inner(self) -> tuple[int, int]:
        return self.start + len(self.prefix) + len(self.quote), self.end - len(self.quote)

    @property
    def formatted(self) -> bool:
        return "f" in self.prefix.lower()


@dataclass(frozen=True)
class Lexed:
    """The regions of a text, in order."""

    text: str
    regions: tuple[Region, ...]

    @staticmethod
    def of(text: str) -> "Lexed":
        found, at = [], 0
        while opened := _OPEN.search(text, at):
            at = opened.end()
            quote = opened["quote"]
            if quote is None:
                found.append(Region(opened.start(), at))
            elif closed := _CLOSE[quote].match(text, at):
                at = closed.end()
                found.append(Region(opened.start(), at, opened["prefix"] or "", quote))
        return Lexed(text, tuple(found))

    @cached_property
    def _starts(self) -> list[int]:
        return [r.start for r in self.regions]

    def at(self, offset: int) -> Region | None:
        """The region that holds an offset."""
        i = bisect_right(self._starts, offset) - 1
        return self.regions[i] if i >= 0 and self.regions[i].end > offset else None

    @cached_property
    def _chains(self) -> dict[int, tuple[Region, ...]]:
        strings = [r for r in self.regions if not r.comment]
        chains: list[list[Region]] = [[r] for r in strings[:1]]
        for left, right in pairwise(strings):
            gap = _GAP.match(self.text, left.end, right.start)
            if gap and gap.end() == right.start:
                chains[-1].append(right)
            else:
                chains.append([right])
        return {r.start: chain for chain in map(tuple, chains) for r in chain}

    def chain(self, literal: Region) -> tuple[Region, ...]:
        """The literals that Python joins with this one, itself included, in order."""
        return self._chains[literal.start]

    @cached_property
    def code(self) -> str:
        """The text with the insides of strings and comments blanked, of the same length."""
        parts, at = [], 0
        for r in self.regions:
            parts += [self.text[at : r.start], "#" * (r.end - r.start) if r.comment else "'" * (r.end - r.start)]
            at = r.end
        return "".join([*parts, self.text[at:]])

    @cached_property
    def _brackets(self) -> tuple[list[int], list[int]]:
        """Where the innermost open bracket changes, and to which (-1: none)."""
        at, opened, stack = [-1], [-1], []
        for match in _BRACKET.finditer(self.code):
            if match[0] in "([{":
                stack.append(match.start())
            elif stack:
                stack.pop()
            at.append(match.start())
            opened.append(stack[-1] if stack else -1)
        return at, opened

    def bracket(self, offset: int) -> tuple[str, int]:
        """The innermost bracket open at an offset: `[`, `(`, `{`, or `call` for one after a name; and where it stands."""
        at, opened = self._brackets
        i = opened[bisect_left(at, offset) - 1]
        if i < 0:
            return "", -1
        before = self.code[max(0, i - 200) : i].rstrip()
        called = self.code[i] == "(" and _CALLED.search(before) and not _KEYWORD.search(before)
        return ("call" if called else self.code[i]), i
