"""Sentences of comments, docstrings and documents that the rename would make untrue, rewritten by a table."""

import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from sync_tools.translate import rules
from sync_tools.translate.edits import Claims, Edit
from sync_tools.translate.kinds import Kind
from sync_tools.translate.rules import Rule
from sync_tools.translate.text.pylex import Lexed

_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=\S)")
_LEAD = re.compile(r"[ \t]*(?:#+[ \t]*|>[ \t]*)*")
_MARKUP = re.compile(r"\s*(?:\.\. |`{3}|~{3}|\|)")
_ITEM = re.compile(r"(?:[-*+]|\d+\.)[ \t]|\|")
NARROWEST, MAX_WIDTH, LONGEST = 79, 10_000, 20_000


@cache
def _matcher(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


@dataclass(frozen=True)
class Paragraph:
    """The lines of one paragraph, start..end in the text, and how wide they may be."""

    start: int
    end: int
    lines: tuple[str, ...]
    width: int


def translate_prose(claims: Claims, kind: Kind, lexed: Lexed | None, finish: Callable[[str], str]) -> None:
    """Claim every paragraph that holds a sentence of the table, rewritten from there on; `finish` does the other passes."""
    active = [r for r in rules.table("prose") if any(w in claims.text for w in r.words("words"))]
    if not active or (lexed is None and kind != "markdown"):
        return
    for paragraph in _paragraphs(claims.text, active, lexed):
        _rewrite(claims, paragraph, active, finish)


def _paragraphs(text: str, active: list[Rule], lexed: Lexed | None) -> Iterator[Paragraph]:
    done = 0
    for at in sorted(m.start() for r in active for w in r.words("words") for m in re.finditer(re.escape(w), text)):
        if at >= done and (paragraph := _around(text, at, lexed)):
            done = paragraph.end
            yield paragraph


def _around(text: str, at: int, lexed: Lexed | None) -> Paragraph | None:
    """The paragraph that holds an offset, if it stands in prose."""
    low, high, comment = 0, len(text), False
    if lexed is not None:
        region = lexed.at(at)
        if region is None or not (region.comment or region.long):
            return None
        comment = region.comment
        if not comment:
            low, high = region.inner
    start, end = _line(text, at, low, high)
    lead = _lead(text[start:end])
    if _MARKUP.match(text, start, end):
        return None
    if comment and "#" not in lead:
        return Paragraph(region.start, region.end, (text[region.start : region.end],), MAX_WIDTH)  # it follows code
    while start > low:
        above = _line(text, start - 1, low, high)
        if not _continues(text[slice(*above)], lead, comment) or _ITEM.match(text[start:end].lstrip("# \t")):
            break
        start = above[0]
    while end < high:
        below = _line(text, end + 1, low, high)
        if (
            below[0] >= high
            or not _continues(text[slice(*below)], lead, comment)
            or _ITEM.match(text[slice(*below)].lstrip("# \t"))
        ):
            break
        end = below[1]
    if end - start > LONGEST:
        return None
    lines = tuple(text[start:end].split("\n"))
    return Paragraph(
        start, end, lines, max([NARROWEST if len(lines) == 1 else 0, *(len(line.rstrip("\r")) for line in lines)])
    )


def _line(text: str, at: int, low: int, high: int) -> tuple[int, int]:
    start = max(low, text.rfind("\n", 0, at) + 1)
    end = text.find("\n", at)
    return start, min(high, end if end >= 0 else len(text))


def _lead(line: str) -> str:
    match = _LEAD.match(line)
    return match[0] if match else ""


def _continues(line: str, lead: str, comment: bool) -> bool:
    """True where a neighbouring line belongs to the paragraph: not blank, and a comment exactly where it is one."""
    if not line[len(_lead(line)) :].strip() or _MARKUP.match(line):
        return False
    return (line.lstrip().startswith("#") == comment) and (not comment or _lead(line) == lead)


def _rewrite(claims: Claims, p: Paragraph, active: list[Rule], finish: Callable[[str], str]) -> None:
    bare = [line.rstrip("\r")[len(_lead(line)) :].rstrip() for line in p.lines]
    sentences = _SENTENCE.split(" ".join(bare))
    rewritten, applied = [], []
    for sentence in sentences:
        new = sentence
        for rule in active:
            new, old = _apply(rule, new), new
            if new != old:
                applied.append((rule.code, sentence, new))
        rewritten.append(new)
    if not applied:
        return
    first = next(i for i, (a, b) in enumerate(zip(sentences, rewritten)) if a != b)
    head = " ".join(sentences[:first])
    row = _row_of(bare, len(head) + 1 if head else 0)
    unchanged = len(" ".join(bare[:row])) + 1 if row else 0
    tail = " ".join(part for part in [head[unchanged:], *rewritten[first:]] if part)
    leads = [_lead(line) for line in p.lines]
    wrapped = textwrap.wrap(
        finish(tail),
        p.width,
        initial_indent=leads[row],
        subsequent_indent=leads[min(row + 1, len(leads) - 1)],
        break_long_words=False,
        break_on_hyphens=False,
    )
    newline = "\r\n" if p.lines[0].endswith("\r") else "\n"
    new, end = newline.join(wrapped) + ("\r" if p.lines[-1].endswith("\r") else ""), p.end
    start = p.start + sum(len(line) + 1 for line in p.lines[:row])
    if not wrapped:
        new, end = "", end + (claims.text[end : end + 1] == "\n")
    for code, before, after in applied:
        claims.edit(Edit(start, end, new, code, before=before, after=after))
        start, new = end, ""


def _row_of(lines: list[str], offset: int) -> int:
    """The line that holds an offset of the lines joined by blanks."""
    for row, line in enumerate(lines):
        if offset <= len(line):
            return row if offset < len(line) else min(row + 1, len(lines) - 1)
        offset -= len(line) + 1
    return len(lines) - 1


def _apply(rule: Rule, sentence: str) -> str:
    matcher = _matcher(str(rule.data["match"]))
    if "replace" in rule.data:
        return matcher.sub(str(rule.data["replace"]), sentence)
    return str(rule.data["rewrite"]) if matcher.search(sentence) else sentence
