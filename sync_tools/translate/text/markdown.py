"""A document as pieces: prose, and the fenced (or reST) blocks in it, each of the kind of its language."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal

from sync_tools.translate import rules
from sync_tools.translate.kinds import Kind

_FENCE = re.compile(r"(?P<indent>[ \t]*(?:>[ \t]?)*)(?P<mark>`{3,}|~{3,})[ \t]*(?P<language>[\w+.-]*)")
_DIRECTIVE = re.compile(r"(?P<indent>[ \t]*)\.\. (?:code-block|code|sourcecode)::[ \t]*(?P<language>[\w+-]*)")
_KINDS: dict[str, Kind] = {
    "python": "python",
    "py": "python",
    "python3": "python",
    "bash": "shell",
    "sh": "shell",
    "shell": "shell",
    "console": "shell",
    "zsh": "shell",
    "yaml": "yaml",
    "yml": "yaml",
    "diff": "patch",
    "patch": "patch",
}


@dataclass(frozen=True)
class Piece:
    """start..end of the document; `indent` leads every line of a block that holds code."""

    start: int
    end: int
    kind: Kind | Literal["kept"]
    indent: str = ""


def pieces(text: str) -> Iterator[Piece]:
    """The pieces of a document, in order and without gaps. An unclosed fence is prose."""
    at, line = 0, 0
    while line < len(text):
        end = _next(text, line)
        fenced = _fenced(text, line, end)
        block = fenced or _directive(text, line, end)
        if block is None:
            line = end
            continue
        if block.start > at:
            yield Piece(at, block.start, "markdown")
        yield block
        at = block.end
        # The closing fence must not be taken for an opening one.
        line = _next(text, at) if fenced else at
    if at < len(text):
        yield Piece(at, len(text), "markdown")


def _kind(language: str, otherwise: Kind) -> Kind | Literal["kept"]:
    return "kept" if language in kept_languages() else _KINDS.get(language, otherwise)


@cache
def kept_languages() -> dict[str, str]:
    """The languages whose blocks keep their text, each with the code of the rule that says so."""
    return {language: rule.code for rule in rules.table("protected") for language in rule.words("blocks")}


def _next(text: str, line: int) -> int:
    end = text.find("\n", line)
    return len(text) if end < 0 else end + 1


def _fenced(text: str, line: int, end: int) -> Piece | None:
    opened = _FENCE.match(text, line, end)
    if opened is None:
        return None
    closing = re.compile(rf"(?m)^[ \t]*(?:>[ \t]?)*{re.escape(opened['mark'][0])}{{{len(opened['mark'])},}}[ \t]*\r?$")
    closed = closing.search(text, end)
    if closed is None or closed.start() == end:
        return None
    kind = _kind(opened["language"].lower(), "text" if opened["language"] else "shell")
    return Piece(end, closed.start(), kind, opened["indent"])


def _directive(text: str, line: int, end: int) -> Piece | None:
    opened = _DIRECTIVE.match(text, line, end)
    if opened is None:
        return None
    start, at, indent = end, end, ""
    while at < len(text):
        stop = _next(text, at)
        body = text[at:stop]
        if body.strip() and not body.startswith(opened["indent"] + " "):
            break
        indent = indent or body[: len(body) - len(body.lstrip())] if body.strip() else indent
        at = stop
    if at == start:
        return None
    return Piece(start, at, _kind(opened["language"].lower(), "text"), indent)
