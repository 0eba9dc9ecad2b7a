"""The inline style: the request is built and the answer is read in place, with no seam.

Where every use of an answer is understood, its reads are written as vLLM has them; otherwise it is turned into
upstream's shape where it arrives. Both need a few private helpers, which the module gets.
"""

import ast
from typing import TYPE_CHECKING

from sync_tools.translate.python import chains, helpers, prompts
from sync_tools.translate.python.draft import Draft
from sync_tools.translate.python.exchange import Send
from sync_tools.translate.python.keys import Kept
from sync_tools.translate.reasons import Reason

if TYPE_CHECKING:
    from sync_tools.translate.python.interpret import Analysis

_ASK, _READ, _STREAM = "SY151", "SY152", "SY153"


def translate(draft: Draft, an: "Analysis", kept: Kept) -> None:
    wrapped = chains.not_understood(draft, an)
    needed: set[str] = set()
    for number, send in an.exchanges.sends.items():
        if send.kind == "foreign":
            continue
        tokenizer = prompts.tokenizer_for(draft, an, send)
        if _ask(draft, an, send, tokenizer):
            needed.add("_vllm_request")
            needed |= _receive(draft, send, native=number not in wrapped)
    natives = {number for number in an.exchanges.sends if number not in wrapped}
    needed |= chains.rewrite(draft, an, natives)
    mixed = {an.source.number(send.node) for send in an.exchanges.sends.values()} & an.exchanges.others
    helpers.insert(draft, needed, helpers.Names(kept.request, kept.sampling, bool(mixed)), _ASK)


def _ask(draft: Draft, an: "Analysis", send: Send, tokenizer: str | None) -> bool:
    if send.body is None:
        draft.site(send.node, "request", "its body is not written at the call", Reason.PROVENANCE)
        return False
    if send.unseen:
        draft.site(send.node, "request", "what is sent here, and where to, cannot be seen", Reason.PROVENANCE)
        return False
    closing = f", {tokenizer})" if tokenizer else ")"
    span = draft.source.span(send.body)
    draft.edits.wrap(span, "_vllm_request(", closing)
    draft.applied(_ASK, span[0], draft.short(send.body), f"_vllm_request({draft.short(send.body)}{closing}")
    for key in ("return_routed_experts", "top_logprobs_num", "routed_experts_start_len"):
        for use in prompts.writes(an, send, key):
            draft.site(draft.source.nodes[use.node], key, "has no place in the inline style", Reason.NO_COUNTERPART)
    return True


def _receive(draft: Draft, send: Send, native: bool) -> set[str]:
    """Accumulate a stream; turn an answer into upstream's shape where its reads are not rewritten."""
    needed: set[str] = set()
    if send.lines:
        needed |= _stream(draft, send)
    if native:
        return needed
    for name, node, known in _arrivals(draft, send):
        closing = f", {draft.source.segment(send.body)})" if known else ")"
        draft.edits.wrap(draft.source.span(node), f"{name}(", closing)
        draft.applied(_READ, draft.source.span(node)[0], draft.short(node), f"{name}({draft.short(node)}{closing}")
        needed.add(name)
    return needed


def _arrivals(draft: Draft, send: Send) -> list[tuple[str, ast.AST, bool]]:
    """Which helper takes the answer, where, and whether the request has a name there."""
    named = isinstance(send.body, ast.Name)
    if send.kind == "function":
        outer = draft.source.parent(send.node)
        return [
            ("_vllm_answer", outer, named) if isinstance(outer, ast.Await) else ("_vllm_answer_later", send.node, named)
        ]
    found = [
        ("_vllm_answer", draft.source.nodes[number], named and same and scope.within(send.scope))
        for number, (scope, same) in send.arrivals.items()
    ]
    return found + [("_vllm_answer", draft.source.nodes[number], False) for number in send.chunks]


def _stream(draft: Draft, send: Send) -> set[str]:
    name = draft.fresh("answers")
    here = all(scope.within(send.scope) for scope in send.lines.values())
    before = [send.node] if here else [draft.source.nodes[number] for number in send.lines]
    for node in before:
        draft.insert_before(draft.source.statement(node), f"{name} = _VllmStream()", _STREAM)
    for number in send.lines:
        draft.edits.wrap(draft.source.span(draft.source.nodes[number]), f"{name}.lines(", ")")
    for number in send.chunks:
        draft.edits.wrap(draft.source.span(draft.source.nodes[number]), f"{name}.read(", ")")
        draft.applied(_STREAM, draft.source.span(draft.source.nodes[number])[0], "", f"{name}.read(...)")
    if not send.chunks:
        draft.site(send.node, "stream", "where its lines are decoded cannot be seen", Reason.PROVENANCE)
    if "json" not in draft.taken:
        draft.site(send.node, "stream", "the module does not import json", Reason.PROVENANCE)
    return {"_VllmStream"}
