"""Calls of control routes: bodies that become queries, methods and answers that differ."""

import ast
from typing import TYPE_CHECKING

from sync_tools.translate.python import responses
from sync_tools.translate.python.draft import Draft
from sync_tools.translate.python.exchange import Control
from sync_tools.translate.python.lattice import Named, Piece, Tup, Value
from sync_tools.translate.python.text import one_constant
from sync_tools.translate.reasons import Reason

if TYPE_CHECKING:
    from sync_tools.translate.python.interpret import Analysis

_RULE = "SY104"
_PREFIX = "generate-tokens-"
_PAUSES = {"abort": "", "retract": "?mode=keep", "in_place": "?mode=keep&clear_cache=false"}
_TAGS = ("weights", "kv_cache")
_OPTION = {"pause": "mode", "wake": "tags"}
_AS_QUERY = {"pause": "pause_query", "wake": "wake_up_query"}


def translate(draft: Draft, an: "Analysis", seam: bool) -> dict[tuple[Piece, ...], str]:
    """Rewrite bodies, methods and answers; the queries that the routes get. Without a `seam` the rest is reported."""
    queries: dict[tuple[Piece, ...], str] = {}
    for control in an.exchanges.controls.values():
        if control.endpoint.new is None:
            continue
        query = _body(draft, an, control, seam)
        if query:
            for endpoint, pieces, _ in an.exchanges.routes:
                if endpoint is control.endpoint:
                    queries[pieces] = query
        _method(draft, an, control)
        _answer(draft, control, seam)
    return queries


def _body(draft: Draft, an: "Analysis", control: Control, seam: bool) -> str:
    """Rewrites what is sent; the query that takes its place."""
    kind = control.endpoint.body
    if kind in (None, "none"):
        return ""
    bodies = _written(draft, an, control)
    if bodies is None:
        _when_sent(draft, an, control, seam)
        return ""
    if kind == "abort":
        for body, entry in bodies:
            _abort(draft, body, entry)
        return ""
    if kind == "profile":
        if any(entry for _, entry in bodies):
            _unseen_body(draft, control, kind)
        return ""
    queries = {_query(an, kind, entry) for _, entry in bodies} or {""}
    query = queries.pop() if len(queries) == 1 else None
    if query is None:
        _when_sent(draft, an, control, seam)
        return ""
    for body, entry in bodies:
        if entry:
            _replace(draft, body, "{}")
    return query


def _written(draft: Draft, an: "Analysis", control: Control) -> list[tuple[ast.expr, dict[str, ast.expr]]] | None:
    """The bodies with their entries; None when not all of what is sent stands in literals."""
    found = []
    for number in sorted(control.bodies):
        site, node = an.heap.sites[number], draft.source.nodes[number]
        entries = _entries(node)
        if entries is None or site.dynamic or site.outside:
            return None
        if site.fields != {key: an.value_of(entry) for key, entry in entries.items()}:
            return None
        found.append((node, entries))
    return None if control.unseen else found


def _when_sent(draft: Draft, an: "Analysis", control: Control, seam: bool) -> None:
    """What is sent is known only when it is sent: the seam looks at it then."""
    kind, alone = control.endpoint.body, len(an.exchanges.controls_at(control.node)) == 1
    alone = alone and an.source.number(control.node) not in an.exchanges.sends
    entry = _entries(control.body) if alone and control.body is not None else None
    if not seam or control.body is None or kind == "profile" or (kind == "sleep" and entry):
        _unseen_body(draft, control, kind)
    elif kind == "abort" and alone:
        _wrap(draft, control.body, f"{draft.seam('abort_body')}(", ")")
    elif entry is not None and entry.keys() == {_OPTION.get(kind)} and control.url is not None:
        option = draft.source.span(entry[_OPTION[kind]])
        start, end = draft.source.span(control.url)
        name = draft.seam(_AS_QUERY[kind])
        draft.edits.replace((start, end), (start, end), f" + {name}(", option, ")")
        draft.applied(_RULE, start, draft.short(control.url), f"{draft.short(control.url)} + {name}(...)")
        _replace(draft, control.body, "{}")
    elif control.url in control.node.args and control.body in control.node.args:
        start, end = draft.source.span(control.url)[0], draft.source.span(control.body)[1]
        name, whole = draft.seam("control_call"), draft.source.text[start:end]
        if draft.has_applied(_RULE, start, whole):
            return
        draft.edits.wrap((start, end), f"*{name}(", ")")
        draft.applied(_RULE, start, whole, f"*{name}({whole})")
    elif (names := _names_of(draft, control)) is not None:
        both = ", ".join(names)
        line = f"{both} = {draft.seam('control_call')}({both})"
        draft.insert_before(draft.source.statement(control.node), line, _RULE)
    else:
        _unseen_body(draft, control, kind)


def _names_of(draft: Draft, control: Control) -> tuple[str, str] | None:
    """The variables that hold address and body of a call, where a line before its statement may change both."""
    url, body = control.url, control.body
    if isinstance(body, ast.BoolOp) and isinstance(body.op, ast.Or) and ast.unparse(body.values[-1]) == "{}":
        body = body.values[0]
    statement = draft.source.statement(control.node)
    simple = isinstance(statement, ast.Assign | ast.Expr | ast.Return)
    return (url.id, body.id) if simple and isinstance(url, ast.Name) and isinstance(body, ast.Name) else None


def _unseen_body(draft: Draft, control: Control, kind: str) -> None:
    reason = Reason.NO_COUNTERPART if kind in ("profile", "sleep") else Reason.PROVENANCE
    draft.site(control.node, control.endpoint.old, _NOT_THIS_BODY[kind].format(control.endpoint.new), reason)


_NOT_THIS_BODY = {
    "abort": "{} takes request_ids, and what is sent here cannot be seen",
    "pause": "{} takes its mode as a query, not as this body",
    "wake": "{} takes its tags as a query, not as this body",
    "sleep": "{} takes no tags: weights and KV cache sleep together",
    "profile": "{} knows delay_iterations and max_iterations; where and what to record is set at start-up (--profiler-config)",
}


def _query(an: "Analysis", kind: str, entry: dict[str, ast.expr]) -> str | None:
    if entry == {}:
        return ""
    if kind == "pause" and entry.keys() == {"mode"}:
        return _PAUSES.get(one_constant(an.value_of(entry["mode"])))
    if entry.keys() != {"tags"}:
        return None
    known = [tag for tag in _TAGS if tag in (_constants(an.value_of(entry["tags"])) or ())]
    if kind == "sleep":
        return "" if known == list(_TAGS) else None
    return "?" + "&".join(f"tags={tag}" for tag in known) if known else None


def _constants(of: Value) -> list[str] | None:
    """The strings of a list that is known whole."""
    only = next(iter(of)) if len(of) == 1 else None
    held = [one_constant(element) for element in only.elements] if isinstance(only, Tup) else [None]
    return None if None in held else held


def _abort(draft: Draft, body: ast.expr, entry: dict[str, ast.expr]) -> None:
    if not entry:
        return
    if "rid" not in entry:
        _replace(draft, body, "{}")
        return
    span = draft.source.span(entry["rid"])
    simple = isinstance(entry["rid"], ast.Name | ast.Attribute)
    before, after = (
        (f'{{"request_ids": [f"{_PREFIX}{{', '}"]}') if simple else (f'{{"request_ids": ["{_PREFIX}" + ', "]}")
    )
    draft.edits.replace(draft.source.span(body), before, span, after)
    draft.applied(
        _RULE,
        draft.source.span(body)[0],
        draft.source.segment(body),
        f"{before}{draft.source.text[slice(*span)]}{after}",
    )


def _method(draft: Draft, an: "Analysis", control: Control) -> None:
    wanted = control.endpoint.method
    if wanted is None or control.method == wanted:
        return
    func = control.node.func
    if isinstance(func, ast.Attribute) and func.attr == control.method:
        _, end = draft.source.span(func)
        draft.edits.replace((end - len(func.attr), end), wanted)
        draft.applied(_RULE, end - len(func.attr), func.attr, wanted)
        _empty_body(draft, an, control)
    elif isinstance(func, ast.Name) and len(control.node.args) == 1 and (name := _imported(draft, func.id, wanted)):
        _replace(draft, func, name)
        _empty_body(draft, an, control)
    else:
        why = f"{control.endpoint.new} wants {wanted.upper()}"
        draft.site(control.node, control.endpoint.old, why, Reason.NO_COUNTERPART)


def _empty_body(draft: Draft, an: "Analysis", control: Control) -> None:
    """Upstream's own `post` wants a body."""
    func = control.node.func
    ours = isinstance(func, ast.Name) or any(
        isinstance(a, Named) and a.dotted.endswith("http_utils") for a in an.value_of(func.value)
    )
    if ours and len(control.node.args) == 1:
        draft.edits.insert(draft.source.span(control.node.args[0])[1], ", {}")


def _imported(draft: Draft, name: str, wanted: str) -> str | None:
    """What `wanted` goes by here, imported beside `name` where it was not; None where that cannot be."""
    for node in draft.source.tree.body:
        if not isinstance(node, ast.ImportFrom):
            continue
        held = {alias.name: alias for alias in node.names}
        beside = next((alias for alias in node.names if (alias.asname or alias.name) == name), None)
        if beside is not None and wanted in held:
            return held[wanted].asname or wanted
        if beside is not None and wanted not in draft.taken:
            draft.edits.insert(draft.source.span(beside)[1], f", {wanted}")
            draft.taken |= {wanted}
            return wanted
        if beside is not None:
            return wanted if _is_import_of(draft, wanted) else None
    return None


def _is_import_of(draft: Draft, name: str) -> bool:
    return any(
        isinstance(node, ast.ImportFrom)
        and (node.module or "").endswith("http_utils")
        and any(alias.name == name and alias.asname is None for alias in node.names)
        for node in draft.source.tree.body
    )


def _answer(draft: Draft, control: Control, seam: bool) -> None:
    if control.endpoint.answer is None:
        return
    outer = draft.source.parent(control.node)
    if control.endpoint.answer == "success":
        unread = isinstance(draft.source.parent(outer) if isinstance(outer, ast.Await) else outer, ast.Expr)
        if not unread and not responses.read_success(draft, control.node, _RULE):
            why = f"{control.endpoint.new} answers 200 even when busy: read `success`"
            draft.site(control.node, control.endpoint.old, why, Reason.NO_COUNTERPART)
        return
    if responses.only_status(draft, control.node):
        return
    if (
        seam
        and control.endpoint.answer == "load"
        and isinstance(control.node.func, ast.Name)
        and isinstance(outer, ast.Await)
    ):
        span = draft.source.span(outer)
        draft.edits.wrap(span, f"{draft.seam('read_load')}(", ")")
        draft.applied(_RULE, span[0], draft.source.segment(outer), f"read_load({draft.source.segment(outer)})")
    else:
        why = f"the answer of {control.endpoint.new} has another shape"
        draft.site(control.node, control.endpoint.old, why, Reason.NO_COUNTERPART)


def _entries(body: ast.expr | None) -> dict[str, ast.expr] | None:
    """The entries of a dict that is written out; None for anything else."""
    if not isinstance(body, ast.Dict) or not all(isinstance(key, ast.Constant) for key in body.keys):
        return None
    return {str(key.value): value for key, value in zip(body.keys, body.values, strict=True)}


def _replace(draft: Draft, node: ast.expr, new: str) -> None:
    span = draft.source.span(node)
    draft.edits.replace(span, new)
    draft.applied(_RULE, span[0], draft.source.segment(node), new)


def _wrap(draft: Draft, node: ast.expr, before: str, after: str) -> None:
    span = draft.source.span(node)
    draft.edits.wrap(span, before, after)
    draft.applied(_RULE, span[0], draft.source.segment(node), f"{before}{draft.source.segment(node)}{after}")
