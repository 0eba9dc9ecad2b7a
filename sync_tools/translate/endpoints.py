"""Endpoints that comments, documents and scripts name. Python code is left to the seam pass."""

import re
from functools import cache

from sync_tools.translate import rules
from sync_tools.translate.edits import Claims, Edit
from sync_tools.translate.kinds import Kind
from sync_tools.translate.text.pylex import Lexed, Region

_WORDS = 4
"""So many words make a string a sentence that speaks of a route, not an address."""


@cache
def _table(where: str) -> tuple[re.Pattern[str], dict[str, tuple[str, str]]]:
    rows = {
        old: (new, r.code)
        for r in rules.table("mentions")
        if r.data.get("where") == where
        for old, new in r.rows().items()
    }
    return re.compile(rf"(?:{'|'.join(re.escape(o) for o in sorted(rows, key=len, reverse=True))})(?![\w/-])"), rows


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], str, str], ...]:
    """What is told by what stands before it: the pattern, what replaces all but its `keep`, the rule's code."""
    found = (r for r in rules.table("mentions") if r.data.get("where") == "pattern")
    return tuple((re.compile(str(r.data["pattern"]), re.MULTILINE), str(r.data["replace"]), r.code) for r in found)


def translate_endpoints(claims: Claims, kind: Kind, lexed: Lexed | None) -> None:
    """Claim the endpoints that stand in prose (comments, docstrings, sentences, documents), and the plain GETs of scripts."""
    _by_pattern(claims, lexed)
    if kind not in ("python", "markdown", "shell"):
        _report_gone(claims)
        return
    if kind == "shell":
        _in_comments(claims)
    pattern, rows = _table("shell" if kind == "shell" else "prose")
    for match in pattern.finditer(claims.text):
        region = lexed.at(match.start()) if lexed else None
        before = claims.text[match.start() - 1 : match.start()]
        if lexed is not None and not (region and _speaks(claims.text, region, match)):
            continue
        if kind != "shell" and (before.isalnum() or before in ("}", "_", "-")):
            continue
        new, code = rows[match[0]]
        claims.edit(Edit(match.start(), match.end(), new, code))
    if kind == "python":
        _report_gone(claims)


def _in_comments(claims: Claims) -> None:
    """What the comments of a script say."""
    pattern, rows = _table("prose")
    for match in pattern.finditer(claims.text):
        line = claims.text[claims.text.rfind("\n", 0, match.start()) + 1 : match.start()]
        if line.lstrip().startswith("#") and line[-1:] in " `(":
            claims.edit(Edit(*match.span(), *rows[match[0]]))


def _by_pattern(claims: Claims, lexed: Lexed | None) -> None:
    for pattern, new, code in _patterns():
        for match in pattern.finditer(claims.text) if "/generate" in claims.text or "/engine_" in claims.text else ():
            if lexed is None or lexed.at(match.end("keep")) is not None:
                claims.edit(Edit(match.end("keep"), match.end(), new, code))


def _report_gone(claims: Claims) -> None:
    pattern, rows = _table("gone")
    for match in pattern.finditer(claims.text):
        if claims.free(*match.span()):
            claims.keep(*match.span())
            claims.site(*match.span(), match[0], rows[match[0]][0])


def _speaks(text: str, region: Region, match: re.Match[str]) -> bool:
    """Whether a route stands in a comment, in a docstring, or in a string that is a sentence."""
    if region.comment or region.long:
        return True
    around = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
    return all(c in " `(),.;:" for c in around) and len(text[slice(*region.inner)].split()) >= _WORDS


def renamed_endpoints(text: str) -> str:
    """The endpoints of a piece of prose."""
    claims = Claims(text)
    translate_endpoints(claims, "markdown", None)
    return claims.apply()
