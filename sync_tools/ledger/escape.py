"""Upstream's words in our Markdown and on our terminal: they show as text, whatever they hold.

Nothing of theirs opens a tag, ends a table cell, pings a person, closes an issue or points at an issue of the fork.
"""

import re
import unicodedata

ENTITIES = {c: f"&#{ord(c)};" for c in "|`*[]~\\$"} | {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
IN_CODE = ENTITIES | {c: f"&#{ord(c)};" for c in "@#_"}
UNDERLINE = re.compile(r"(?<![^\W_])_|_(?![^\W_])")  # within a word it underlines nothing
REFERENCE = re.compile(r"(?<![\w/#.-])(?:#|GH-)(\d+)\b", re.IGNORECASE)
CLOSES = re.compile(
    r"\b(clos(?:e[sd]?|ing)|fix(?:e[sd])?|fixing|resolv(?:e[sd]?|ing))((?:\s*:)?\s+)(?=\S*#\d)", re.IGNORECASE
)
IDENTIFIER = re.compile(
    r"`([^`@#]+)`"
    r"|(?<![\w/&.:@-])("
    r"--[A-Za-z][\w-]*"  # a flag
    r"|/?(?:[\w.-]+/)*[\w.-]+\.(?:py|sh|md|j2|ya?ml|toml|txt|json|patch)(?::\d+)?"  # a file
    r"|[A-Za-z]\w*(?:\.\w+)*_\w+(?:\.\w+)*"  # a name with an underscore
    r"|[A-Za-z_]\w*(?:\.\w+){2,}"  # a dotted name
    r"|/[a-z]\w*(?:/\w+)*"  # an endpoint
    r"|SY\d{3}|RV\d{3}|[0-9a-f]{12}(?:[0-9a-f]{28})?"  # a rule, a commit
    r")(?![\w/@#-])"
)
GAP = "&#8203;"
BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def plain(value: str) -> str:
    """One line without control characters: line ends become blanks, the others a visible replacement."""
    return "".join(_visible(c) for c in " ".join(value.split("\n"))).strip()


def printable(value: str) -> str:
    """As `plain`, with blanks and tabs of a source line kept."""
    return "".join("    " if c == "\t" else _visible(c) for c in value)


def references(value: str, repo: str) -> str:
    """`#N` as `owner/name#N`, so that it never means an issue of the repository that shows it."""
    return REFERENCE.sub(rf"{repo}#\1", value)


def prose(value: str, repo: str, *, strip: bool = True) -> str:
    """Text for Markdown, in or out of a table cell."""
    text = plain(value) if strip else value
    escaped = "".join(ENTITIES.get(c, c) for c in references(text, repo))
    quiet = CLOSES.sub(rf"\1{GAP}\2", UNDERLINE.sub("&#95;", escaped))
    return quiet.replace("@", f"@{GAP}").replace("://", f":{GAP}//")


def words(value: str, repo: str) -> str:
    """Text for Markdown in which identifiers, and what stands between backticks, are code."""
    parts, at, text = [], 0, plain(value)
    for m in IDENTIFIER.finditer(text):
        parts += [prose(text[at : m.start()], repo, strip=False), code(m[1] or m[2])]
        at = m.end()
    return "".join([*parts, prose(text[at:], repo, strip=False)])


def code(value: str) -> str:
    """A name or path as code, in or out of a table cell; empty for nothing."""
    shown = plain(value)
    if not any(c in shown for c in "`|\\"):
        return f"`{shown}`" if shown else ""
    return f"<code>{''.join(IN_CODE.get(c, c) for c in shown)}</code>"


def _visible(c: str) -> str:
    if c in BIDI or unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp"):
        return " " if c in "\t\r\v\f\u2028\u2029\x85" else "\ufffd"
    return c
