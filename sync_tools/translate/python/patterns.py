"""`match`: what the names in a pattern are bound to."""

import ast
from typing import TYPE_CHECKING

from sync_tools.translate.python import text
from sync_tools.translate.python.lattice import UNKNOWN, Value, dicts, sequence, unpacked
from sync_tools.translate.python.scope import Frame, joined

if TYPE_CHECKING:
    from sync_tools.translate.python.interpret import Analysis


def match(an: "Analysis", node: ast.Match, frame: Frame) -> None:
    subject = an.evaluate(node.subject, frame)
    before = dict(frame.env or {})
    ends: list[dict[str, Value] | None] = [before]
    for case in node.cases:
        frame.env = dict(before)
        _bind_pattern(an, case.pattern, subject, frame)
        if case.guard is not None:
            an.evaluate(case.guard, frame)
        an.block(case.body, frame)
        ends.append(frame.env)
    frame.env = joined(*ends)


def _bind_pattern(an: "Analysis", pattern: ast.pattern, subject: Value, frame: Frame) -> None:
    if isinstance(pattern, ast.MatchMapping):
        for key, inner in zip(pattern.keys, pattern.patterns, strict=True):
            constant = text.one_constant(an.evaluate(key, frame))
            part = an.read_key(subject, constant, pattern, key, frame) if constant is not None else UNKNOWN
            _bind_pattern(an, inner, part, frame)
        if pattern.rest:
            for site in dicts(subject):
                an.heap.mark(site, dynamic=True)
            an.bind(pattern.rest, UNKNOWN, frame)
        return
    if isinstance(pattern, ast.MatchAs):
        if pattern.pattern is not None:
            _bind_pattern(an, pattern.pattern, subject, frame)
        if pattern.name:
            an.bind(pattern.name, subject, frame)
    elif isinstance(pattern, ast.MatchOr):
        for inner in pattern.patterns:
            _bind_pattern(an, inner, subject, frame)
    elif isinstance(pattern, ast.MatchSequence):
        for inner, part in zip(pattern.patterns, unpacked(subject, len(pattern.patterns)), strict=True):
            _bind_pattern(an, inner, part, frame)
    elif isinstance(pattern, ast.MatchStar):
        if pattern.name:
            an.bind(pattern.name, sequence(subject), frame)
    elif isinstance(pattern, ast.MatchClass):
        for inner in (*pattern.patterns, *pattern.kwd_patterns):
            _bind_pattern(an, inner, UNKNOWN, frame)
