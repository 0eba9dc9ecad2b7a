"""Rewrite the literal text that names a route."""

import ast

from sync_tools.translate.python.draft import Draft
from sync_tools.translate.python.lattice import Piece
from sync_tools.translate.python.routes import Match
from sync_tools.translate.reasons import Reason

_NO_ROUTE = "no counterpart on vLLM that a rename reaches; the engine class does it"
_TANGLED = "the address is put together in a way that cannot be rewritten"


def rewrite(draft: Draft, matches: list[Match], queries: dict[tuple[Piece, ...], str]) -> None:
    """Each route once, with the query that its calls need."""
    done: set[int] = set()
    for endpoint, pieces, query in matches:
        node_number = pieces[-1].node
        if node_number < 0 or node_number in done:
            continue
        done.add(node_number)
        node = draft.source.nodes[node_number]
        if endpoint.new is None:
            draft.site(node, endpoint.old, _NO_ROUTE, Reason.NO_COUNTERPART)
            continue
        new = endpoint.new + queries.get(pieces, "")
        if not _replace(draft, node, pieces[-1].text, endpoint.old, new, query, endpoint.rule):
            draft.site(node, endpoint.old, _TANGLED, Reason.PROVENANCE)


def _replace(draft: Draft, node: ast.AST, text: str, old: str, new: str, query: str, rule: str) -> bool:
    start, _ = draft.source.span(node)
    segment = draft.source.segment(node)
    for was, becomes in ((old + query, new), (old[1:] + query, new[1:])):
        at = segment.rfind(was)
        if at >= 0 and text.endswith(was):
            begin = start + at
            draft.edits.replace((begin, begin + len(was)), becomes)
            draft.applied(rule, begin, was, becomes)
            return True
    return False
