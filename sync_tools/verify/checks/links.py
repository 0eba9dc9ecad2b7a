"""Links of touched documents lead to files and headings that exist, and no document names what the port removed."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from posixpath import normpath
from urllib.parse import unquote

from sync_tools.verify.checks.dangling import SPECIFIC, pattern_of_dotted, pattern_of_file
from sync_tools.verify.model import Context, Finding
from sync_tools.verify.removed import Removed, RemovedFile, RemovedName, RemovedOption
from sync_tools.verify.source import MARKDOWN, Source

LINK = re.compile(
    r"\]\(\s*<?([^)\s>]+)>?(?:\s+[\"'][^)]*)?\)|^\s*\[[^\]]+\]:\s*(\S+)|(?:src|href)=[\"']([^\"']+)", re.MULTILINE
)
FENCED = re.compile(r"^(\s*)(`{3,}|~{3,}).*?^\s*\2[`~]*\s*$", re.MULTILINE | re.DOTALL)
SCHEME = re.compile(r"^(?:[a-z][a-z0-9+.-]*:|//|\{)", re.IGNORECASE)
HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*$", re.MULTILINE)


def links(context: Context) -> Iterator[Finding]:
    for source in context.files():
        if source.suffix == ".md":
            yield from _in(context, source)
    for gone in context.removed:
        word, pattern, said = _wanted(gone)
        for source, line in context.mentions(word, pattern) if word else ():
            if source.suffix in MARKDOWN:
                yield Finding(source.path, line, "links.removed", said, "name what replaced it")


def _in(context: Context, source: Source) -> Iterator[Finding]:
    text = FENCED.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), source.text)
    for m in LINK.finditer(text):
        target = next(g for g in m.groups() if g)
        if SCHEME.match(target):
            continue
        path, _, anchor = unquote(target).partition("#")
        path = path.partition("?")[0]
        at = normpath(str(PurePosixPath(source.path).parent / path)) if not path.startswith("/") else path.strip("/")
        line = source.line_at(m.start())
        if path and at not in context.code.paths and at not in context.code.folders and at != ".":
            yield Finding(source.path, line, "links.file", f"no file `{at}`", "repoint the link")
        elif anchor and not path and anchor.lower() not in _anchors(source):
            yield Finding(source.path, line, "links.heading", f"no heading for `#{anchor}`", "repoint the link")


def _anchors(source: Source) -> frozenset[str]:
    """The anchors of a document as the forges make them, and those it names itself."""
    titles = (re.sub(r"[^\w\- ]", "", h.lower()).strip().replace(" ", "-") for h in HEADING.findall(source.text))
    own = re.findall(r"(?:id|name)=[\"']([^\"']+)|^\(([^)]+)\)=", source.text, re.MULTILINE)
    return frozenset(titles) | {name.lower() for pair in own for name in pair if name}


def _wanted(gone: Removed) -> tuple[str, re.Pattern[str], str]:
    match gone:
        case RemovedFile():
            return *pattern_of_file(gone), f"`{gone.path}` was removed"
        case RemovedOption(flag=flag):
            return flag, re.compile(rf"(?<![\w-]){re.escape(flag)}(?![\w-])"), f"the option `{flag}` was removed"
        case RemovedName(name=name, gone=True, path=path) if SPECIFIC.match(name):
            return name, re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])"), f"`{name}` was removed from {path}"
        case RemovedName(module=module, name=name, path=path):
            full = f"{module}.{name}"
            return full, pattern_of_dotted(full), f"`{name}` was removed from {path}"
