"""No conflict marker is left in a touched file.

`=======` alone proves nothing (Markdown and reStructuredText underline with it): it counts between an opening and a
closing marker, and so does the base's `|||||||`.
"""

import re
from collections.abc import Iterator

from sync_tools.verify.model import Context, Finding
from sync_tools.verify.source import MARKDOWN, Source

ENDS = re.compile(r"^(<{7,}|>{7,})(?: .*)?$")
INNER = re.compile(r"^(={7,}|\|{7,})(?: .*)?$")
FIX = "resolve the conflict, then `vime-sync port --continue`"


def markers(context: Context) -> Iterator[Finding]:
    for source in context.files():
        if "<<<<<<<" in source.text or ">>>>>>>" in source.text:
            yield from _in(source)


def _in(source: Source) -> Iterator[Finding]:
    ends = [(n, m[1][0]) for n, line in enumerate(source.lines, 1) if (m := ENDS.match(line))]
    opened = next((n for n, end in ends if end == "<"), None)
    # Seven quote levels are odd but legal Markdown: without an opening marker they are a quotation.
    if not ends or (opened is None and source.suffix in MARKDOWN):
        return
    found = {n for n, _ in ends}
    last = ends[-1][0]
    inner = range(opened + 1, last) if opened else range(1, last)
    found |= {n for n in inner if INNER.match(source.line(n))}
    for n in sorted(found):
        yield Finding(source.path, n, "markers.left", f"conflict marker `{source.line(n)[:7]}`", FIX)
