"""The hunks of a touched patch file are whole: each has as many lines as its header says, so that the patch can apply."""

import re
from collections.abc import Iterator

from sync_tools.verify.model import Context, Finding
from sync_tools.verify.source import Source

HEADER = re.compile(r"^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")


def patches(context: Context) -> Iterator[Finding]:
    for source in context.files():
        if source.suffix in (".patch", ".diff"):
            yield from _in(source)


def _in(source: Source) -> Iterator[Finding]:
    lines, at = source.lines, 0
    while at < len(lines):
        header = HEADER.match(lines[at])
        at += 1
        if header is None:
            continue
        start, old, new = at, int(header[1] or 1), int(header[2] or 1)
        while at < len(lines) and (old > 0 or new > 0) and (lines[at][:1] in (" ", "+", "-", "\\") or not lines[at]):
            mark = lines[at][:1] or " "
            old -= mark in " -"
            new -= mark in " +"
            at += 1
        if old or new:
            message = "the hunk has not as many lines as its header says"
            yield Finding(source.path, start, "patches.count", message, "make the patch again from its sources")
