"""Where in a text command-line flags stand: a shell line, a Python string, or prose that only speaks of them."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from sync_tools.translate.kinds import Kind
from sync_tools.translate.text.pylex import Lexed, Region

_NUMBER = re.compile(r"[\d.$(]")


@dataclass(frozen=True)
class Place:
    """The span lo..hi that is read as one run of flags and values.

    `line`: a shell line, whose flags may go; `literal`: the inside of a Python string; `prose`: flags are only named here.
    """

    lo: int
    hi: int
    style: Literal["line", "literal", "prose"]
    literal: Region | None = None


PlaceAt = Callable[[int], Place | None]


def places(text: str, kind: Kind, lexed: Lexed | None) -> PlaceAt:
    """The function from an offset to the place that holds it. Each line is looked at once."""
    speaks = lexed is not None or kind == "markdown"
    lines: dict[int, Place] = {}

    def line_at(offset: int) -> Place:
        start = text.rfind("\n", 0, offset) + 1
        if start not in lines:
            lines[start] = _line(text, start, speaks=speaks)
        return lines[start]

    def in_python(offset: int) -> Place | None:
        assert lexed is not None
        region = lexed.at(offset)
        if region is None:
            return None
        if not region.comment and not region.long:
            return Place(*region.inner, "literal", region)
        line, (lo, hi) = line_at(offset), region.inner
        return Place(max(line.lo, lo), min(line.hi, hi), line.style)

    return line_at if lexed is None else in_python


def _line(text: str, lo: int, *, speaks: bool) -> Place:
    hi = text.find("\n", lo)
    hi = len(text) if hi < 0 else hi
    if text[lo:hi].endswith("\r"):
        hi -= 1
    line = text[lo:hi].lstrip()
    speaks = speaks or line.startswith("#")
    return Place(lo, hi, "prose" if speaks and not only_flags(line) else "line")


def only_flags(line: str) -> bool:
    """True for a line that holds flags with their values and nothing else, be it commented out."""
    words = line.lstrip("# \t").removesuffix("\\").split()
    if not words or not words[0].startswith("--"):
        return False
    values = 0
    for word in words:
        if word.startswith("--"):
            values = 0
            continue
        values += 1
        if values > 1 and not _NUMBER.match(word):
            return False
    return True
