"""Comments and docstrings that would be untrue: routes that they name, and whose chunks are cumulative."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator

from sync_tools.translate.python.draft import Draft
from sync_tools.translate.python.edits import Span
from sync_tools.translate.python.rules import Rules

_ROUTE_RULE = "SY191"
_ENGINE = re.compile(r"sglang", re.IGNORECASE)
_BLANK = re.compile(r"\n[^\S\n]*\n")


def rewrite(draft: Draft, rules: Rules, exchanges: bool, streams: bool) -> None:
    """`exchanges`: the module speaks to the engine itself; `streams`: it reads a stream of the engine's."""
    for row in rules.prose:
        if row.option:
            for match in re.finditer(row.old, draft.source.text):
                _replace(draft, row.rule, match.span(), match.expand(row.new))
    if not _may_hold(draft.source.text, rules):
        return
    for span in _prose(draft):
        done = streams and _rewrite_stream(draft, rules, span)
        if not done:
            _rewrite_routes(draft, rules, span, exchanges)


def _may_hold(text: str, rules: Rules) -> bool:
    return (
        any(endpoint.new is not None and endpoint.old in text for endpoint in rules.endpoints) or "cumulative" in text
    )


def _rewrite_routes(draft: Draft, rules: Rules, span: Span, exchanges: bool) -> None:
    text = draft.source.text[slice(*span)]
    for endpoint in rules.endpoints:
        if endpoint.new is None or endpoint.old not in text:
            continue
        for match in re.finditer(rf"(?<![\w.}}/]){re.escape(endpoint.old)}(?![\w/])", text):
            start = span[0] + match.start()
            line = draft.source.line(draft.source.position(start)[0])
            if exchanges or _ENGINE.search(line):
                _replace(draft, _ROUTE_RULE, (start, start + len(endpoint.old)), endpoint.new)


def _rewrite_stream(draft: Draft, rules: Rules, span: Span) -> bool:
    """Whether a paragraph of the text was replaced as a whole."""
    text = draft.source.text[slice(*span)]
    replaced: list[Span] = []
    for row in rules.prose:
        for match in re.finditer(row.old, text, re.IGNORECASE) if row.paragraph else ():
            start, end = _paragraph(text, match.start())
            indent = re.match(r"\s*", text[start:end]).group().rpartition("\n")[2]
            if "\n" in text and not text.lstrip().startswith("#"):
                replaced.append((start, end))
                new = row.new.replace("\n", draft.source.newline + indent)
                _replace(draft, row.rule, (span[0] + start, span[0] + end), indent + new)
    for row in rules.prose:
        if row.paragraph or row.option:
            continue
        for match in re.finditer(row.old, text, re.IGNORECASE):
            if not any(start <= match.start() < end for start, end in replaced):
                new = match.expand(row.new)
                if text[: match.start()].rstrip("\"' ").endswith((".", "!", "?")):
                    new = new[0].upper() + new[1:]
                _replace(draft, row.rule, (span[0] + match.start(), span[0] + match.end()), new)
    return bool(replaced) and not any(endpoint.old in text for endpoint in rules.endpoints)


def _paragraph(text: str, at: int) -> Span:
    """The lines between the blank ones around a place, without the line end behind."""
    blanks = [match.end() for match in _BLANK.finditer(text) if match.end() <= at]
    after = _BLANK.search(text, at)
    start = blanks[-1] if blanks else 0
    end = after.start() if after else len(text.rstrip("\"' \t\r\n"))
    return start, end


def _prose(draft: Draft) -> Iterator[Span]:
    """Where the comments and docstrings stand; comment lines that follow each other are one text."""
    for node in ast.walk(draft.source.tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            first = node.body[0]
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                yield draft.source.span(first.value)
    text = draft.source.text[draft.source.line_start(1) :]
    for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
        if token.type == tokenize.COMMENT:
            start = draft.source.line_start(token.start[0]) + token.start[1]
            yield start, start + len(token.string)


def _replace(draft: Draft, rule: str, span: Span, new: str) -> None:
    draft.edits.replace(span, new)
    draft.applied(rule, span[0], draft.source.text[slice(*span)], new)
