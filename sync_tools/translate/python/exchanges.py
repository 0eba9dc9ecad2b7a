"""Wrap what sends to the engine and what arrives from it in the functions of the seam."""

import ast
from typing import TYPE_CHECKING

from sync_tools.translate.python import prompts
from sync_tools.translate.python.draft import Draft
from sync_tools.translate.python.exchange import Send
from sync_tools.translate.reasons import Reason

if TYPE_CHECKING:
    from sync_tools.translate.python.interpret import Analysis

_ASK, _READ, _STREAM = "SY141", "SY142", "SY143"
_NEEDS_REQUEST = {"logprob_start_len", "return_routed_experts", "routed_experts_start_len"}


def translate(draft: Draft, an: "Analysis") -> None:
    for send in an.exchanges.sends.values():
        if send.kind == "foreign":
            if send.read:
                _wrap_function(draft, send, None)
            continue
        tokenizer = prompts.tokenizer_for(draft, an, send)
        if send.kind == "function":
            _wrap_function(draft, send, tokenizer)
        elif send.lines:
            _stream(draft, an, send)
        else:
            _client(draft, an, send, tokenizer)


def _wrap_function(draft: Draft, send: Send, tokenizer: str | None) -> None:
    if send.callee is None:
        draft.site(send.node, "request", "what sends it cannot be seen", Reason.PROVENANCE)
        return
    span = draft.source.span(send.callee)
    closing = f", {tokenizer})" if tokenizer else ")"
    before = draft.source.segment(send.callee)
    name = draft.seam("to_vllm")
    draft.edits.wrap(span, f"{name}(", closing)
    draft.applied(_ASK, span[0], before, f"{name}({before}{closing}")


def _client(draft: Draft, an: "Analysis", send: Send, tokenizer: str | None) -> None:
    if send.body is None:
        draft.site(send.node, "request", "its body is not written at the call", Reason.PROVENANCE)
        return
    request = None
    if isinstance(send.body, ast.Name):
        request = send.body.id
    elif send.arrivals and _needs_request(an, send):
        request = draft.fresh("request")
    closing = f", {tokenizer})" if tokenizer else ")"
    opening = f"{draft.seam('generate_request')}("
    if request is not None and not isinstance(send.body, ast.Name):
        opening, closing = f"({request} := {opening}", f"{closing})"
    span = draft.source.span(send.body)
    draft.edits.wrap(span, opening, closing)
    draft.applied(_ASK, span[0], draft.short(send.body), f"{opening}...{closing}")
    for number, (scope, same) in send.arrivals.items():
        node = draft.source.nodes[number]
        walrus = request is not None and not isinstance(send.body, ast.Name)
        known = request is not None and scope.within(send.scope) and (same or walrus)
        _wrap(draft, node, draft.seam("read_answer"), f", {request})" if known else ")", _READ)


def _needs_request(an: "Analysis", send: Send) -> bool:
    for site in send.bodies:
        fields = an.heap.sites[site].fields
        if fields.keys() & _NEEDS_REQUEST:
            return True
    return False


def _stream(draft: Draft, an: "Analysis", send: Send) -> None:
    if send.body is None:
        draft.site(send.node, "request", "its body is not written at the call", Reason.PROVENANCE)
        return
    name = draft.fresh("answers")
    here = all(scope.within(send.scope) for scope in send.lines.values())
    if here:
        _declare(draft, send, name)
    else:
        span = draft.source.span(send.body)
        draft.edits.wrap(span, f"{draft.seam('generate_request')}(", ")")
        for number in send.lines:
            draft.insert_before(
                draft.source.statement(draft.source.nodes[number]), f"{name} = {draft.seam('AnswerStream')}()", _STREAM
            )
    whole = send.adrift or not send.chunks
    for number in send.lines:
        _wrap(draft, draft.source.nodes[number], f"{name}.{'upstream_lines' if whole else 'lines'}", ")", _STREAM)
    for number in () if whole else send.chunks:
        _wrap(draft, draft.source.nodes[number], f"{name}.read", ")", _STREAM)


def _declare(draft: Draft, send: Send, name: str) -> None:
    """The accumulator, made before the statement that sends, or in place where the body is written there."""
    assert send.body is not None
    span = draft.source.span(send.body)
    tokenizer = f", {send.tokenizer}" if send.tokenizer else ""
    stream = draft.seam("AnswerStream")
    if isinstance(send.body, ast.Name | ast.Attribute):
        body = draft.source.segment(send.body)
        draft.insert_before(draft.source.statement(send.node), f"{name} = {stream}({body}{tokenizer})", _STREAM)
        draft.edits.replace(span, f"{name}.request")
        draft.applied(_STREAM, span[0], body, f"{name}.request")
    else:
        draft.edits.wrap(span, f"({name} := {stream}(", f"{tokenizer})).request")
        draft.applied(_STREAM, span[0], draft.short(send.body), f"{name}.request")


def _wrap(draft: Draft, node: ast.AST, function: str, closing: str, rule: str) -> None:
    span = draft.source.span(node)
    draft.edits.wrap(span, f"{function}(", closing)
    before = draft.short(node)
    draft.applied(rule, span[0], before, f"{function}({before}{closing}")
