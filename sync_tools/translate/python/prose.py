"""The generate endpoint, where comments and docstrings name it."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator

from sync_tools.translate.python.draft import Draft
from sync_tools.translate.python.edits import Span
from sync_tools.translate.python.rules import Endpoint, Rules

_RULE = "SY105"
_ENGINE = re.compile(r"sglang", re.IGNORECASE)


def rewrite(draft: Draft, rules: Rules, exchanges: bool) -> None:
    """Rewrites them where the module speaks to the engine itself (`exchanges`), or where the line names it."""
    named = [e for e in rules.endpoints if e.prose and e.old in draft.source.text]
    commented = any(re.search(rf"#.*{re.escape(e.old)}", draft.source.text) for e in named)
    for span in (*_docstrings(draft), *(_comments(draft) if commented else ())) if named else ():
        for endpoint in named:
            _rewrite(draft, endpoint, span, exchanges)


def _rewrite(draft: Draft, endpoint: Endpoint, span: Span, exchanges: bool) -> None:
    text = draft.source.text[slice(*span)]
    for match in re.finditer(rf"(?<![\w.}}/]){re.escape(endpoint.old)}(?![\w/])", text):
        start = span[0] + match.start()
        line = draft.source.position(start)[0]
        beside = [draft.source.line(line)] + (
            [draft.source.line(line - 1)]
            if line > 1 and not text[: match.start()].rpartition("\n")[2].strip("# ")
            else []
        )
        if exchanges or any(map(_ENGINE.search, beside)):
            draft.edits.replace((start, start + len(endpoint.old)), str(endpoint.new))
            draft.applied(_RULE, start, endpoint.old, str(endpoint.new))


def _docstrings(draft: Draft) -> Iterator[Span]:
    for node in draft.source.nodes:
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            first = node.body[0]
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                yield draft.source.span(first.value)


def _comments(draft: Draft) -> Iterator[Span]:
    text = draft.source.text[draft.source.line_start(1) :]
    for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
        if token.type == tokenize.COMMENT:
            start = draft.source.line_start(token.start[0]) + token.start[1]
            yield start, start + len(token.string)
