"""The seam pass of Python, where it is installed: requests, answers and streams, on upstream's names."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from sync_tools.translate.lines import LineMap
from sync_tools.translate.result import Application, Site


class PythonTranslation(Protocol):
    source: str
    applications: tuple[Application, ...]
    unresolved: tuple[Site, ...]


def seam_pass() -> tuple[Callable[[str], bool], Callable[..., PythonTranslation]] | None:
    """`needs` and `translate_module`, or None while there is no seam pass."""
    try:
        from sync_tools.translate.python import needs, translate_module
    except ImportError:
        return None
    return needs, translate_module


Seamed = tuple[str, tuple[Application, ...], tuple[Site, ...]]


def translate_seam(source: str, style: str, seam_module: str) -> Seamed | None:
    """The source after the seam pass; None where it has nothing to do. A source that does not parse is reported as a site."""
    passes = seam_pass()
    if passes is None or not passes[0](source):
        return None
    done = passes[1](source, style=style, seam_module=seam_module)
    return done.source, tuple(done.applications), tuple(done.unresolved)


_POST = "from slime.utils.http_utils import post\n"
_ASKS, _BINDS = re.compile(r"(?<![\w.])post\("), re.compile(r"import .*\bpost\b|def post\b|\bpost\s*=")


def translate_fragment(source: str, style: str, seam_module: str) -> Seamed | None:
    """The same for a document's piece of code, which may call upstream's `post` without the line that imports it."""
    if not _ASKS.search(source) or _BINDS.search(source):
        return translate_seam(source, style, seam_module)
    done = translate_seam(_POST + source, style, seam_module)
    if done is None or done[0].count(_POST) != 1:
        return translate_seam(source, style, seam_module)
    applications, sites = shifted(-1, 0, done[1], done[2])
    alone = done[0].startswith(_POST) or source.startswith(("from ", "import ", "\n"))
    return done[0].replace(_POST, "" if alone else "\n"), tuple(a for a in applications if a.line > 0), sites


def mapped(
    before: str, after: str, applications: tuple[Application, ...], sites: tuple[Site, ...]
) -> tuple[tuple[Application, ...], tuple[Site, ...]]:
    """What a later pass reported on `after`, in the lines of `before`."""
    if before == after:
        return applications, sites
    lines = LineMap.between(before, after)
    return tuple(map(lines.application, applications)), tuple(map(lines.site, sites))


def shifted(
    lines: int, columns: int, applications: tuple[Application, ...], sites: tuple[Site, ...]
) -> tuple[tuple[Application, ...], tuple[Site, ...]]:
    """What was reported on a piece, in the lines and columns of the text that holds it."""
    return (
        tuple(replace(a, line=a.line + lines, column=a.column + columns) for a in applications),
        tuple(replace(s, line=s.line + lines, column=s.column + columns, end_line=s.end_line + lines) for s in sites),
    )
