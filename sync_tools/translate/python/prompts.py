"""Prompts: text needs a tokenizer on our side, images have no place in the request."""

import ast
from typing import TYPE_CHECKING

from sync_tools.translate.python.draft import Draft
from sync_tools.translate.python.exchange import Send
from sync_tools.translate.python.heap import KeyUse
from sync_tools.translate.reasons import Reason

if TYPE_CHECKING:
    from sync_tools.translate.python.interpret import Analysis

_PROMPT = "SY112"
_ROLLOUT = "slime.rollout.sglang_rollout"
_NO_TOKENIZER = "vLLM takes token ids, and no tokenizer is in reach"


def tokenizer_for(draft: Draft, an: "Analysis", send: Send) -> str | None:
    """What encodes the text prompts of a send; they are encoded where they are written if only there one is in reach."""
    texts = writes(an, send, "text")
    refused = [use for key, row in an.rules.request.items() if row.refused for use in writes(an, send, key)]
    for use in refused:
        _report_refused(draft, an, use)
    texts = [use for use in texts if not _beside(draft, use, refused)]
    if not texts:
        return None
    if send.tokenizer is not None:
        return send.tokenizer
    if all(_encodable(an, send, use) for use in texts):
        for use in texts:
            _encode(draft, an, use)
    elif send.args is not None:
        return _tokenizer_of_the_run(draft, send)
    else:
        for use in texts:
            draft.site(draft.source.nodes[use.node], "text", _NO_TOKENIZER, Reason.TOKENIZER)
    return None


def _tokenizer_of_the_run(draft: Draft, send: Send) -> str:
    """What the rollout shares holds it; imported in the function, since the rollout may import this module."""
    draft.insert_before(_head_of_function(draft, send), f"from {_ROLLOUT} import GenerateState", _PROMPT)
    return f"GenerateState({send.args}).tokenizer"


def _head_of_function(draft: Draft, send: Send) -> ast.stmt:
    """The first statement of the function that sends, behind its docstring; outside of one the statement that sends."""
    node = draft.source.parent(send.node)
    while node is not None and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        node = draft.source.parent(node)
    if node is None:
        return draft.source.statement(send.node)
    documented = ast.get_docstring(node, clean=False) is not None and len(node.body) > 1
    first = node.body[1 if documented else 0]
    return first if first.lineno > node.lineno else node


def writes(an: "Analysis", send: Send, key: str) -> list[KeyUse]:
    """Where the key is written in the dicts that are sent, or that were copied into them."""
    groups = an.heap.groups()
    members = {m for group in groups.values() if send.bodies & set(group) for m in group}
    uses = {use for member in members for use in an.heap.uses.get(member, ()) if use.key == key}
    return sorted(use for use in uses if use.use != "read")


def _report_refused(draft: Draft, an: "Analysis", use: KeyUse) -> None:
    node = draft.source.nodes[use.node]
    pair = draft.source.parent(node)
    if isinstance(pair, ast.Dict):
        held = pair.values[pair.keys.index(node)]
        if isinstance(held, ast.Constant) and held.value is None:
            return
        whole = ast.Constant(
            lineno=node.lineno, col_offset=node.col_offset, end_lineno=held.end_lineno, end_col_offset=0
        )
        draft.site(whole, use.key, str(an.rules.request[use.key].refused), Reason.REFUSED, statement=False)
    else:
        draft.site(node, use.key, str(an.rules.request[use.key].refused), Reason.REFUSED)


def _beside(draft: Draft, use: KeyUse, refused: list[KeyUse]) -> bool:
    """Whether a refused key is written in the same block: the request is refused before its text is read."""
    statement = draft.source.statement(draft.source.nodes[use.node])
    block = _block(draft, statement)
    return any(draft.source.statement(draft.source.nodes[other.node]) in block for other in refused)


def _block(draft: Draft, statement: ast.stmt) -> list[ast.stmt]:
    parent = draft.source.parent(statement)
    if isinstance(parent, ast.If):
        return parent.body if statement in parent.body else parent.orelse
    return [statement]


def _encodable(an: "Analysis", send: Send, use: KeyUse) -> bool:
    groups = an.heap.groups()
    members = [m for group in groups.values() if send.bodies & set(group) for m in group]
    sites = [an.heap.sites[m] for m in members]
    read = any(u.key == "text" and u.use != "write" for m in members for u in an.heap.uses.get(m, ()))
    return use.node in an.text_prompts and not read and not any(s.leaves or s.dynamic or s.outside for s in sites)


def _encode(draft: Draft, an: "Analysis", use: KeyUse) -> None:
    tokenizer, held = an.text_prompts[use.node]
    node = draft.source.nodes[use.node]
    start, end = draft.source.span(node)
    written = draft.source.segment(node)
    renamed = written.replace("text", "token_ids")
    draft.edits.replace((start, end), renamed)
    draft.edits.wrap(draft.source.span(held), f"{tokenizer}.encode(", ")")
    draft.applied(_PROMPT, start, written, f"{renamed}: {tokenizer}.encode(...)")
