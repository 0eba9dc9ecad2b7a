"""What of an answer is read, and where."""

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sync_tools.translate.python.lattice import UNKNOWN, Value, Wire, value, wires

if TYPE_CHECKING:
    from sync_tools.translate.python.calls import Call
    from sync_tools.translate.python.interpret import Analysis

PARTS = {
    ("answer", "meta_info"): "meta",
    ("answer", "text"): "text",
    ("answer", "output_ids"): "ids",
    ("meta", "output_token_logprobs"): "pairs",
    ("meta", "input_token_logprobs"): "prompt_pairs",
    ("meta", "finish_reason"): "finish",
}


@dataclass
class Reads:
    """Key reads by node: which part of which answer, under which key."""

    keys: dict[int, set[tuple[Wire, str]]] = field(default_factory=dict)

    def key(self, an: "Analysis", of: Wire, key: str, node: ast.AST) -> Value:
        self.keys.setdefault(an.source.number(node), set()).add((of, key))
        part = PARTS.get((of.kind, key))
        if of.kind in ("response", "raw", "chunk"):
            an.sinks.unread(an, of, node)
        return UNKNOWN if part is None else value(Wire(part, of.sink))

    def index(self, an: "Analysis", of: Wire, node: ast.Subscript) -> Value:
        """A subscript that is no constant string."""
        if of.kind in ("pairs", "prompt_pairs"):
            return value(Wire(of.kind[:-1], of.sink))
        return value(of) if of.kind in ("line", "body") else UNKNOWN

    def contains(self, an: "Analysis", of: Value, key: str | None, node: ast.Compare) -> None:
        for wire in wires(of, "answer", "meta"):
            if key is not None:
                self.keys.setdefault(an.source.number(node), set()).add((wire, key))

    def called(self, an: "Analysis", of: Wire, name: str, call: "Call") -> Value:
        return value(of) if name == "copy" else UNKNOWN
