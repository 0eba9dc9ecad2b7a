"""Calls of control routes: bodies that become queries, methods and answers that differ."""

import ast
from typing import TYPE_CHECKING

from sync_tools.translate.python.draft import Draft
from sync_tools.translate.python.exchange import Control
from sync_tools.translate.python.lattice import Piece

if TYPE_CHECKING:
    from sync_tools.translate.python.interpret import Analysis

_RULE = "SY104"
_PREFIX = "generate-tokens-"
_PAUSES = {"abort": "", "retract": "?mode=keep", "in_place": "?mode=keep&clear_cache=false"}
_TAGS = ("weights", "kv_cache")


def translate(draft: Draft, an: "Analysis") -> dict[tuple[Piece, ...], str]:
    """Rewrite bodies, methods and answers; the queries that the routes get."""
    queries: dict[tuple[Piece, ...], str] = {}
    for control in an.exchanges.controls.values():
        if control.endpoint.new is None:
            continue
        written = [draft.source.nodes[site] for site in sorted(control.bodies)]
        query = _body(draft, control, [node for node in written if isinstance(node, ast.Dict)])
        if query:
            for endpoint, pieces, _ in an.exchanges.routes:
                if endpoint is control.endpoint:
                    queries[pieces] = query
        _method(draft, an, control)
        _answer(draft, control)
    return queries


def _body(draft: Draft, control: Control, bodies: list[ast.expr]) -> str:
    """Rewrites what is sent; the query that takes its place."""
    kind = control.endpoint.body
    entries = [_entries(body) for body in bodies]
    if kind in (None, "none") or (all(e == {} for e in entries) and not control.unseen):
        return ""
    if control.unseen or any(e is None for e in entries) or len(bodies) != len(control.bodies):
        return _unseen_body(draft, control)
    if kind == "abort":
        for body, entry in zip(bodies, entries, strict=True):
            _abort(draft, body, entry)
        return ""
    queries = {_query(kind, entry) for entry in entries}
    query = queries.pop() if len(queries) == 1 else None
    if query is None:
        draft.site(
            control.node, control.endpoint.old, f"{control.endpoint.new} takes its options as a query, not as this body"
        )
        return ""
    for body in bodies:
        _replace(draft, body, "{}")
    return query


def _unseen_body(draft: Draft, control: Control) -> str:
    if control.endpoint.body == "abort" and control.body is not None:
        span = draft.source.span(control.body)
        written = draft.source.segment(control.body)
        draft.edits.wrap(span, f"{draft.seam('abort_body')}(", ")")
        draft.applied(_RULE, span[0], written, f"abort_body({written})")
    else:
        draft.site(
            control.node, control.endpoint.old, f"{control.endpoint.new} takes its options as a query, not as this body"
        )
    return ""


def _query(kind: str, entry: dict[str, ast.expr]) -> str | None:
    if entry == {}:
        return ""
    if kind == "pause" and entry.keys() == {"mode"}:
        return _PAUSES.get(getattr(entry["mode"], "value", None))
    return _tags(entry["tags"]) if kind == "wake" and entry.keys() == {"tags"} else None


def _abort(draft: Draft, body: ast.expr, entry: dict[str, ast.expr]) -> None:
    if "rid" not in entry:
        _replace(draft, body, "{}")
        return
    written = draft.source.segment(entry["rid"])
    simple = isinstance(entry["rid"], ast.Name | ast.Attribute)
    rid = f'f"{_PREFIX}{{{written}}}"' if simple else f'"{_PREFIX}" + {written}'
    _replace(draft, body, f'{{"request_ids": [{rid}]}}')


def _tags(node: ast.expr) -> str | None:
    if not isinstance(node, ast.List | ast.Tuple) or not all(isinstance(e, ast.Constant) for e in node.elts):
        return None
    known = [str(e.value) for e in node.elts if e.value in _TAGS]
    return "?" + "&".join(f"tags={tag}" for tag in known) if known else None


def _method(draft: Draft, an: "Analysis", control: Control) -> None:
    wanted = control.endpoint.method
    if wanted is None or control.method == wanted:
        return
    func = control.node.func
    if isinstance(func, ast.Attribute) and func.attr == control.method:
        _, end = draft.source.span(func)
        draft.edits.replace((end - len(func.attr), end), wanted)
        draft.applied(_RULE, end - len(func.attr), func.attr, wanted)
    elif isinstance(func, ast.Name) and wanted in draft.taken and len(control.node.args) == 1:
        _replace(draft, func, wanted)
        end = draft.source.span(control.node.args[0])[1]
        draft.edits.insert(end, ", {}")
    else:
        draft.site(control.node, control.endpoint.old, f"{control.endpoint.new} wants {wanted.upper()}")


def _answer(draft: Draft, control: Control) -> None:
    if control.endpoint.answer is None:
        return
    outer = draft.source.parent(control.node)
    if control.endpoint.answer == "success":
        if not isinstance(draft.source.parent(control.node), ast.Expr | ast.Await):
            draft.site(
                control.node, control.endpoint.old, f"{control.endpoint.new} answers 200 even when busy: read `success`"
            )
        return
    if control.endpoint.answer == "load" and isinstance(control.node.func, ast.Name) and isinstance(outer, ast.Await):
        span = draft.source.span(outer)
        draft.edits.wrap(span, f"{draft.seam('read_load')}(", ")")
        draft.applied(_RULE, span[0], draft.source.segment(outer), f"read_load({draft.source.segment(outer)})")
    else:
        draft.site(control.node, control.endpoint.old, f"the answer of {control.endpoint.new} has another shape")


def _entries(body: ast.expr | None) -> dict[str, ast.expr] | None:
    """The entries of a dict that is written out; None for anything else."""
    if not isinstance(body, ast.Dict) or not all(isinstance(key, ast.Constant) for key in body.keys):
        return None
    return {str(key.value): value for key, value in zip(body.keys, body.values, strict=True)}


def _replace(draft: Draft, node: ast.expr, new: str) -> None:
    span = draft.source.span(node)
    draft.edits.replace(span, new)
    draft.applied(_RULE, span[0], draft.source.segment(node), new)
