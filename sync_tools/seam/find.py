"""An independent search of files for seam sites: what the translator is measured against.

It shares no code with the translator and knows none of its rules. It errs to both sides in small: it sees a word where
there is no meaning, and does not follow a value through a module.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator

from sync_tools.seam.fallbacks import fallback_lines
from sync_tools.seam.fields import Found, fields
from sync_tools.seam.model import SeamSite
from sync_tools.seam.words import Hit, hits

_FENCE = re.compile(r"(?ms)^(?P<lead>[ \t]*)```(?:python|py)[^\n]*\n(?P<body>.*?)^[ \t]*```")


def find(path: str, data: bytes) -> list[SeamSite]:
    """The sites of a file; none in a binary one."""
    if b"\0" in data[:8192]:
        return []
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    starts = [0, *(m.end() for m in re.finditer("\n", text))]
    found = {_at(path, starts, hit) for hit in (*hits(text), *_fields(path, text, starts))}
    again = fallback_lines(text) if path.endswith(".py") else frozenset()
    return sorted(site for site in found if not (site.kind == "import" and site.line in again))


def _at(path: str, starts: list[int], hit: Hit) -> SeamSite:
    line = bisect_right(starts, hit.start)
    return SeamSite(path, line, hit.start - starts[line - 1] + 1, hit.kind, hit.what)


def _fields(path: str, text: str, starts: list[int]) -> Iterator[Hit]:
    if path.endswith((".py", ".pyi")):
        yield from (_hit(text, starts, found) for found in fields(text))
    elif path.endswith((".md", ".rst")):
        for block in _FENCE.finditer(text):
            yield from _of_block(text, block, starts)


def _of_block(text: str, block: re.Match[str], starts: list[int]) -> Iterator[Hit]:
    """The fields of a document's block of code, which may be a fragment: then each line is looked at by itself."""
    lead, first = block["lead"], bisect_right(starts, block.start("body")) - 1
    plain = "".join(line.removeprefix(lead) for line in block["body"].splitlines(keepends=True))
    for line, column, kind, what in fields(plain):
        yield _hit(text, starts, (first + line, column + len(lead.encode()), kind, what))


def _hit(text: str, starts: list[int], found: Found) -> Hit:
    line, column, kind, what = found
    end = starts[line] if line < len(starts) else len(text)
    before = text[starts[line - 1] : end].encode()[:column].decode("utf-8", "replace")
    return Hit(starts[line - 1] + len(before), kind, what)
