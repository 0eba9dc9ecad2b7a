"""Places that were recognised and are left to a person, whatever the style."""

import ast
from typing import TYPE_CHECKING

from sync_tools.translate.python.draft import Draft
from sync_tools.translate.python.lattice import dicts
from sync_tools.translate.reasons import Reason

if TYPE_CHECKING:
    from sync_tools.translate.python.interpret import Analysis

_SERVES = "serves the engine's route itself: an engine of its own, or a fake of one"
_NOT_DEFINED = "gets a request for the engine, and is not defined here"

_RECORDED = "what a request held that was made or recorded elsewhere: the engine gets another spelling"


def report(draft: Draft, an: "Analysis", *, seam: bool) -> None:
    """`seam`: the seam gives upstream's lines to whoever decodes a stream out of sight, so that such a place is whole."""
    for call in an.exchanges.served.values():
        draft.site(call, "route", _SERVES, Reason.OTHER_SERVICE)
    for send in an.exchanges.sends.values():
        if seam and send.lines and send.adrift:
            continue
        undecoded = send.left and not send.arrivals and not send.chunks
        for number in {*send.unread, *([draft.source.number(send.node)] if undecoded else ())}:
            draft.site(
                draft.source.nodes[number], "answer", "it leaves this module before it is decoded", Reason.PROVENANCE
            )
        if send.kind == "foreign":
            draft.site(send.node, ast.unparse(send.node.func), _NOT_DEFINED, Reason.PROVENANCE)
    _report_recorded(draft, an)


def _report_recorded(draft: Draft, an: "Analysis") -> None:
    """A test that looks at the parameters of a request that somebody else recorded sees vLLM's spelling."""
    renamed = {old for old, row in an.rules.sampling.items() if row.new}
    for node in draft.source.nodes:
        if not (isinstance(node, ast.Subscript) and isinstance(node.value, ast.Subscript)):
            continue
        outer, inner = node.slice, node.value.slice
        if not (isinstance(inner, ast.Constant) and isinstance(outer, ast.Constant) and outer.value in renamed):
            continue
        asserted = isinstance(draft.source.statement(node), ast.Assert)
        if inner.value == "sampling_params" and asserted and not dicts(an.value_of(node.value.value)):
            draft.site(node, str(outer.value), _RECORDED, Reason.PROVENANCE)
