"""Sites that a word gives away wherever it stands: flags, arguments, imports, environment, headers, metrics, classes, routes."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from sync_tools.seam.model import Kind
from sync_tools.seam.names import names


@dataclass(frozen=True, order=True)
class Hit:
    """A site at an offset of a text."""

    start: int
    kind: Kind
    what: str


_PLAIN: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("flag", re.compile(r"(?<![\w.-])(--sglang-[a-z0-9]+(?:-[a-z0-9]+)*)(?![\w-])")),
    ("argument", re.compile(r"\.(sglang_[a-z0-9_]+)\b(?!\s*(?:import|\())")),
    ("argument", re.compile(r"""attr\(\s*[\w.]+,\s*["'](sglang_[a-z0-9_]+)["']""")),
    ("argument", re.compile(r"(?<=[(,\s])(sglang_[a-z0-9_]+)=(?!=)(?=[^\s=])")),
    ("import", re.compile(r"(?m)^[ \t]*((?:from|import)[ \t]+sglang(?:_router)?\b[\w.]*)")),
    ("import", re.compile(r"""["'](sglang\.(?:srt|jit_kernel|launch_server)\b[\w.]*)["']""")),
    ("import", re.compile(r"-m[ \t]+(sglang\.[a-z_.]+)")),
    ("metric", re.compile(r"(?<![\w/-])(sglang:[a-z]+(?:_[a-z0-9]+)+)")),
    ("class", re.compile(r"\b(S(?:GL|gl)ang[A-Z][A-Za-z]+)\b")),
)
_ENVIRONMENT = re.compile(r"(?<![A-Z0-9_])(SGL(?:ANG)?_[A-Z0-9_]+)\b")
_REQUEST = re.compile(r"""_?request\(\s*["'](\w+)["']""")
_BEFORE = r"""(?:(?<=[\s"'`(}>，、（|])|(?<=:\d\d\d\d)|(?<=:\d\d\d\d\d)|(?<=^))"""


@cache
def _asked() -> re.Pattern[str]:
    routes = "|".join(map(re.escape, sorted(names().asked)))
    return re.compile(rf"""(?:\b(?:get|post|urlopen|request|delete)\(|\bfor \w+ in \()[^\n]*?({routes})(?![\w/-])""")


@cache
def _routes() -> re.Pattern[str]:
    routes = "|".join(sorted(map(re.escape, names().endpoints), key=len, reverse=True))
    shell = r"(?<=PORT)"
    return re.compile(rf"(?:{_BEFORE}|{shell})({routes})(?![\w/-])", re.MULTILINE)


def hits(text: str) -> Iterator[Hit]:
    """The sites that words give away, in no order."""
    if "sglang" in text:
        for kind, pattern in _PLAIN:
            yield from (Hit(m.start(1), kind, m[1]) for m in pattern.finditer(text))
    elif "SGLang" in text or "Sglang" in text:
        kind, pattern = _PLAIN[-1]
        yield from (Hit(m.start(1), kind, m[1]) for m in pattern.finditer(text))
    known = names()
    for match in _ENVIRONMENT.finditer(text) if "SGL" in text else ():
        if not known.own_variables.search(match[1]):
            yield Hit(match.start(1), "environment", match[1])
    for word in (*known.headers, *known.values):
        yield from (Hit(m.start(), "header", word) for m in re.finditer(rf"(?i)\b{re.escape(word)}\b", text))
    yield from (Hit(m.start(1), "endpoint", m[1]) for m in _routes().finditer(text))
    yield from (Hit(m.start(1), "endpoint", m[1]) for m in _asked().finditer(text))
    for match in _REQUEST.finditer(text):
        if f"/{match[1]}" in known.endpoints:
            yield Hit(match.start(1), "endpoint", f"/{match[1]}")
