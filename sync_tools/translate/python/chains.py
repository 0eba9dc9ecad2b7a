"""Reads of an answer, written as vLLM has it: `output["meta_info"]["finish_reason"]["type"]` and the like."""

import ast
from typing import TYPE_CHECKING

from sync_tools.translate.python.draft import Draft
from sync_tools.translate.python.edits import Span
from sync_tools.translate.python.lattice import Wire, wires

if TYPE_CHECKING:
    from sync_tools.translate.python.interpret import Analysis

_RULE = "SY152"
_CHOICE = '["choices"][0]'
_TOP = {"text": f'{_CHOICE}["text"]', "output_ids": f'{_CHOICE}["token_ids"]'}
_META = {
    "prompt_tokens": '["usage"]["prompt_tokens"]',
    "completion_tokens": '["usage"]["completion_tokens"]',
    "weight_version": f'{_CHOICE}["weight_versions"][-1]["version"]',
}
_PASSING = (ast.Await, ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.Return, ast.Expr, ast.Starred, ast.keyword)


def not_understood(draft: Draft, an: "Analysis") -> set[int]:
    """The sends whose answers have a use that cannot be written natively."""
    found: set[int] = set()
    for number, held in an.values():
        answers = {wire.sink for wire in wires(held, "answer")}
        if not answers:
            continue
        node = an.source.nodes[number]
        if len(answers) != len(held) or not _is_plain_use(draft, an, node):
            found |= answers
    for sink, send in an.exchanges.sends.items():
        if send.kind == "foreign":
            found.add(sink)
        asks = [an.heap.sites[site].fields.keys() for site in send.bodies]
        if not asks or not all({"return_logprob", "logprobs"} & keys for keys in asks):
            found.add(sink)
        if any("logprob_start_len" in keys for keys in asks):
            found.add(sink)
    return found


def _is_plain_use(draft: Draft, an: "Analysis", node: ast.AST) -> bool:
    """Whether the value is only handed on to where we see it, or read under a key that vLLM has."""
    parent = draft.source.parent(node)
    if isinstance(parent, ast.Assign):
        return all(isinstance(target, ast.Name) for target in parent.targets)
    if isinstance(parent, ast.Return):
        return _is_called_here(draft, an, parent)
    if isinstance(parent, _PASSING) and not isinstance(parent, ast.keyword):
        return True
    if isinstance(parent, ast.Subscript) and parent.value is node:
        return (
            isinstance(parent.ctx, ast.Load)
            and _key(parent.slice) in (*_TOP, "meta_info")
            and not _in_string(draft, parent)
        )
    return _get_of(draft, node) in ("meta_info", "text") and not _in_string(draft, node)


def _is_called_here(draft: Draft, an: "Analysis", node: ast.AST) -> bool:
    function = node
    while function is not None and not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        function = draft.source.parent(function)
    wrapped = any(not _is_transparent(decorator) for decorator in getattr(function, "decorator_list", ()))
    return function is not None and not wrapped and draft.source.number(function) in an.calls.called


def _is_transparent(decorator: ast.expr) -> bool:
    """Whether the decorator is known to hand on what the function gives, unread."""
    return isinstance(decorator, ast.Name) and decorator.id in ("staticmethod", "classmethod", "property")


def _in_string(draft: Draft, node: ast.AST) -> bool:
    at: ast.AST | None = node
    while at is not None and not isinstance(at, ast.stmt):
        if isinstance(at, ast.JoinedStr):
            return True
        at = draft.source.parent(at)
    return False


def _kept(draft: Draft, node: ast.AST) -> tuple[str | Span, ...]:
    """The node's text, in the parentheses that it needs before a subscript."""
    span = draft.source.span(node)
    atomic = isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Call)
    return (span,) if atomic else ("(", span, ")")


def rewrite(draft: Draft, an: "Analysis", natives: set[int]) -> set[str]:
    """Rewrites every read of the answers of `natives`; the helpers that it needs."""
    needed: set[str] = set()
    for number, held in an.values():
        node = an.source.nodes[number]
        if not held or not all(isinstance(a, Wire) and a.kind == "answer" and a.sink in natives for a in held):
            continue
        parent = draft.source.parent(node)
        kept = _kept(draft, node)
        if isinstance(parent, ast.Subscript) and parent.value is node:
            key, read = _key(parent.slice), parent
        elif (key := _get_of(draft, node)) is not None:
            read = draft.source.parent(parent)
        else:
            continue
        if key == "meta_info":
            needed |= _meta(draft, read, kept)
        elif key in _TOP:
            _replace(draft, read, kept, _TOP[key])
    return needed


def _meta(draft: Draft, meta: ast.AST, kept: tuple[str | Span, ...]) -> set[str]:
    """`meta` is `X["meta_info"]`, `kept` is X."""
    parent = draft.source.parent(meta)
    if (
        isinstance(parent, ast.Compare)
        and parent.comparators == [meta]
        and _key(parent.left) == "output_token_logprobs"
    ):
        test = "is not None" if isinstance(parent.ops[0], ast.In) else "is None"
        _replace(draft, parent, kept, f'{_CHOICE}["logprobs"] {test}')
        return set()
    key = _key(parent.slice) if isinstance(parent, ast.Subscript) and parent.value is meta else None
    outer = draft.source.parent(parent) if parent is not None else None
    if key == "finish_reason" and isinstance(outer, ast.Subscript) and _key(outer.slice) == "type":
        _replace(draft, outer, kept, f'{_CHOICE}["finish_reason"]')
        return set()
    if key == "output_token_logprobs" and (column := _column_of(outer, parent, draft)) is not None:
        comprehension, at, name = column
        if at == 1:
            _replace(draft, comprehension, kept, f'{_CHOICE}["token_ids"]')
        else:
            draft.edits.replace(draft.source.span(comprehension.elt), f'{name}["logprob"]')
            _replace(draft, parent, kept, f'{_CHOICE}["logprobs"]["content"]')
        return set()
    if key in _META:
        _replace(draft, parent, kept, _META[key])
        return set()
    if key == "cached_tokens":
        _wrapped(draft, parent, kept, "((", '["usage"].get("prompt_tokens_details") or {}).get("cached_tokens") or 0)')
        return set()
    _wrapped(draft, meta, kept, "_vllm_meta(", ")")
    return {"_vllm_meta"}


def _column_of(generator: ast.AST | None, pairs: ast.AST, draft: Draft) -> tuple[ast.ListComp, int, str] | None:
    """`[item[1] for item in pairs]`: the comprehension, the position, the name."""
    if not isinstance(generator, ast.comprehension) or generator.iter is not pairs or generator.ifs:
        return None
    whole = draft.source.parent(generator)
    if not isinstance(whole, ast.ListComp) or len(whole.generators) != 1 or not isinstance(generator.target, ast.Name):
        return None
    elt, name = whole.elt, generator.target.id
    plain = isinstance(elt, ast.Subscript) and isinstance(elt.value, ast.Name) and elt.value.id == name
    if plain and isinstance(elt.slice, ast.Constant) and elt.slice.value in (0, 1):
        return whole, elt.slice.value, name
    return None


def _get_of(draft: Draft, node: ast.AST) -> str | None:
    """The key of `node.get("key")`, with no default but None or an empty one."""
    parent = draft.source.parent(node)
    if not isinstance(parent, ast.Attribute) or parent.attr != "get":
        return None
    call = draft.source.parent(parent)
    if not isinstance(call, ast.Call) or call.func is not parent or not call.args:
        return None
    return _key(call.args[0])


def _key(node: ast.AST) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _replace(draft: Draft, read: ast.AST, kept: tuple[str | Span, ...], suffix: str) -> None:
    _wrapped(draft, read, kept, "", suffix)


def _wrapped(draft: Draft, read: ast.AST, kept: tuple[str | Span, ...], before: str, after: str) -> None:
    span = draft.source.span(read)
    draft.edits.replace(span, before, *kept, after)
    shown = "".join(part if isinstance(part, str) else draft.source.text[slice(*part)] for part in kept)
    draft.applied(_RULE, span[0], draft.short(read), f"{before}{shown}{after}")
