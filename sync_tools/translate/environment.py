"""Environment variables of SGLang's own: an entry on a line of its own goes, every other use stays and is reported."""

import re
from functools import cache

from sync_tools.translate import rules
from sync_tools.translate.edits import Claims, Edit
from sync_tools.translate.text.pylex import Lexed

_VALUE = r"""(?:\\?"[^"\n]*?\\?"|'[^'\n]*'|[\w.]+(?:\([\w., ]*\))?)"""


@cache
def _patterns() -> tuple[str, re.Pattern[str], re.Pattern[str]]:
    """The rule's code, a variable, and a line that holds nothing but its entry in a mapping or its assignment."""
    (rule,) = rules.table("env")
    names = [rf"{re.escape(p)}\w*" for p in rule.words("prefixes")] + [re.escape(n) for n in rule.words("names")]
    name = rf"(?:{'|'.join(names)})"
    entry = rf"""(?P<quote>\\?["']){name}(?P=quote)\s*:\s*{_VALUE},"""
    line = rf"[ \t]*(?:{entry}|(?:export[ \t]+)?{name}=[^\s;&|]*(?:[ \t]*\\)?|{name}:[ \t]*{_VALUE}|-e[ \t]+{name}(?:=\S*)?[ \t]*\\)[ \t]*\r?"
    return rule.code, re.compile(rf"(?<![A-Z0-9_]){name}\b"), re.compile(line)


def translate_environment(claims: Claims, lexed: Lexed | None, *, lines_may_go: bool) -> None:
    """Claim every variable of the table."""
    text = claims.text
    if "SGL" not in text:
        return
    code, variable, line = _patterns()
    for match in variable.finditer(text):
        if not claims.free(match.start(), match.end()):
            continue
        start = text.rfind("\n", 0, match.start()) + 1
        end = text.find("\n", match.end())
        region = lexed.at(match.start()) if lexed else None
        if (
            lines_may_go
            and end >= 0
            and line.fullmatch(text, start, end)
            and not (region and (region.comment or region.long))
        ):
            claims.edit(Edit(start, end + 1, "", code, before=text[start:end].strip(), after="", at=match.start()))
            continue
        claims.keep(match.start(), match.end())
        if not (region and region.comment) and not text[start : match.start()].lstrip().startswith("#"):
            claims.site(match.start(), match.end(), match[0], "vLLM reads no environment variable of that meaning")
