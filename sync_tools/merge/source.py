"""A Python file as lines with its statements, parsed in pieces so that three versions of it cost little more than one."""

import ast
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from sync_tools.merge.items import IMPORTS, Item, definitions, imported_names, module_items
from sync_tools.merge.layout import Leaf, leaves_of
from sync_tools.merge.lines import Span
from sync_tools.syntax import parse

_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_STARTS = (b"def ", b"class ", b"async def ", b"@")
_FIRST = frozenset(start[:1] for start in _STARTS)


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some top-level statements and what precedes them. Lines are counted from the chunk's first."""

    lines: tuple[bytes, ...]
    body: tuple[ast.stmt, ...]

    @cached_property
    def leaves(self) -> list[Leaf]:
        """The leaf of each line."""
        return leaves_of(self.lines, self.body)

    @cached_property
    def defined(self) -> Counter[str]:
        """How often each definition occurs, by dotted name."""
        items = module_items(((node, 0) for node in self.body), self.lines)
        return Counter(item.dotted for item in definitions(items, self.lines) if item.is_definition)


@dataclass(frozen=True, eq=False)
class Source:
    """A file that parses. `chunks` tile `lines`; `starts` are their first lines."""

    lines: Sequence[bytes]
    chunks: tuple[Chunk, ...]
    starts: tuple[int, ...]

    def leaf(self, line: int) -> Leaf:
        """The smallest piece of code that the line belongs to, with absolute lines."""
        n = bisect_right(self.starts, line) - 1
        return self.chunks[n].leaves[line - self.starts[n]].shifted(self.starts[n])

    @cached_property
    def items(self) -> list[Item]:
        """The items of the module."""
        statements = ((node, start) for chunk, start in zip(self.chunks, self.starts) for node in chunk.body)
        return module_items(statements, self.lines)

    @cached_property
    def definitions(self) -> list[Item]:
        """The items of the module and of its classes, which tile the lines."""
        return list(definitions(self.items, self.lines))

    @property
    def imported(self) -> Counter[str]:
        """How often each import of the module occurs."""
        nodes = (item.node for item in self.items)
        return Counter(name for node in nodes if isinstance(node, IMPORTS) for name in imported_names(node))

    @cached_property
    def defined(self) -> Counter[str]:
        """How often each definition occurs, by dotted name."""
        total: Counter[str] = Counter()
        for chunk in self.chunks:
            total.update(chunk.defined)
        return total

    def border(self, line: int) -> bool:
        """Whether the lines on both sides of the gap before `line` belong to different leaves."""
        if line in (0, len(self.lines)):
            return True
        above, below = self.leaf(line - 1), self.leaf(line)
        return (above.kind, above.start, above.end) != (below.kind, below.start, below.end)


class Parser:
    """Parses versions of one file; what two of them share is parsed once."""

    def __init__(self) -> None:
        self._chunks: dict[bytes, Chunk | None] = {}
        self._sources: dict[bytes, Source | None] = {}

    def source(self, lines: Sequence[bytes]) -> Source | None:
        """None where the file is not UTF-8 Python that parses."""
        data = b"".join(lines)
        if data not in self._sources:
            self._sources[data] = self._parsed(data, lines)
        return self._sources[data]

    def _parsed(self, data: bytes, lines: Sequence[bytes]) -> Source | None:
        if not _readable(data, lines):
            return None
        return self._assembled(lines, _cuts(lines)) or self._assembled(lines, [(0, len(lines))])

    def _assembled(self, lines: Sequence[bytes], spans: list[Span]) -> Source | None:
        chunks = []
        for lo, hi in spans:
            chunk = self._chunk(lines[lo:hi])
            if chunk is None:
                return None
            chunks.append(chunk)
        return Source(lines, tuple(chunks), tuple(lo for lo, _ in spans))

    def _chunk(self, lines: Sequence[bytes]) -> Chunk | None:
        key = b"".join(lines)
        if key not in self._chunks:
            body = _statements(key)
            self._chunks[key] = None if body is None else Chunk(tuple(lines), body)
        return self._chunks[key]


def _statements(data: bytes) -> tuple[ast.stmt, ...] | None:
    try:
        return tuple(parse(data.decode().removeprefix("\ufeff")).body)
    except (SyntaxError, UnicodeDecodeError):
        return None


def _readable(data: bytes, lines: Sequence[bytes]) -> bool:
    """Python counts a lone carriage return as a line end, and a cookie may change what the bytes mean."""
    if b"\r" in data and b"\r" in data.replace(b"\r\n", b""):
        return False
    cookies = [found[1] for line in lines[:2] if (found := _COOKIE.match(line))]
    return all(cookie.lower().replace(b"_", b"-") in (b"utf-8", b"utf8", b"ascii") for cookie in cookies)


def _cuts(lines: Sequence[bytes]) -> list[Span]:
    """Spans that start where a definition follows a blank line at the left margin. A cut inside a string or a bracket
    shows: what is left of it does not parse."""
    starts = [
        n
        for n, line in enumerate(lines)
        if line[:1] in _FIRST and line.startswith(_STARTS) and n and not lines[n - 1].strip()
    ]
    return list(zip([0, *starts], [*starts, len(lines)]))
