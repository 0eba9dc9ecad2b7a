"""Endpoints that comments, documents and scripts name. Python code is left to the seam pass."""

import re
from functools import cache

from sync_tools.translate import rules
from sync_tools.translate.edits import Claims, Edit
from sync_tools.translate.kinds import Kind
from sync_tools.translate.text.pylex import Lexed


@cache
def _table(where: str) -> tuple[re.Pattern[str], dict[str, tuple[str, str]]]:
    rows = {
        old: (new, r.code)
        for r in rules.table("mentions")
        if r.data.get("where") == where
        for old, new in r.rows().items()
    }
    return re.compile(rf"(?:{'|'.join(re.escape(o) for o in sorted(rows, key=len, reverse=True))})(?![\w/-])"), rows


def translate_endpoints(claims: Claims, kind: Kind, lexed: Lexed | None) -> None:
    """Claim the endpoints that stand in prose (comments, docstrings, documents), and the plain GETs of scripts."""
    if kind not in ("python", "markdown", "shell"):
        return
    pattern, rows = _table("shell" if kind == "shell" else "prose")
    for match in pattern.finditer(claims.text):
        region = lexed.at(match.start()) if lexed else None
        before = claims.text[match.start() - 1 : match.start()]
        if lexed is not None and not (region and (region.comment or region.long)):
            continue
        if kind != "shell" and (before.isalnum() or before in ("}", "_", "-")):
            continue
        new, code = rows[match[0]]
        claims.edit(Edit(match.start(), match.end(), new, code))


def renamed_endpoints(text: str) -> str:
    """The endpoints of a piece of prose."""
    claims = Claims(text)
    translate_endpoints(claims, "markdown", None)
    return claims.apply()
