"""What a module exchanges with the engine: what it sends, where the answers arrive, which routes it names."""

import ast
from dataclasses import dataclass, field

from sync_tools.translate.python.lattice import NOTHING, Piece, Value
from sync_tools.translate.python.rules import Endpoint
from sync_tools.translate.python.scope import Scope


@dataclass
class Send:
    """One place that sends a generate request.

    A `function` gives the decoded answer itself; a `client` gives a response that is decoded elsewhere; what a `foreign`
    one gives is not known, but that it is `read` as an answer. `unread` are places that read what was not decoded,
    `left` says that something not decoded has left the module. `callee` is what to wrap of a function, `body` the
    expression to build the request from. `adrift`: lines of the stream are decoded where the loop over them is not in
    sight. `args`: how the run's arguments are reached there, where the engine is the run's own.
    """

    kind: str
    node: ast.Call
    scope: Scope
    callee: ast.expr | None
    body: ast.expr | None
    bodies: set[int] = field(default_factory=set)
    named: Value = NOTHING
    tokenizer: str | None = None
    args: str | None = None
    unseen: bool = False
    arrivals: dict[int, tuple[Scope, bool]] = field(default_factory=dict)
    lines: dict[int, Scope] = field(default_factory=dict)
    chunks: dict[int, Scope] = field(default_factory=dict)
    unread: set[int] = field(default_factory=set)
    adrift: bool = False
    read: bool = False
    left: bool = False


@dataclass
class Control:
    """Calls of a control route at one place; `bodies` are the dicts that are sent there, `unseen` that others may be."""

    node: ast.Call
    endpoint: Endpoint
    method: str
    url: ast.expr | None
    body: ast.expr | None
    bodies: set[int] = field(default_factory=set)
    unseen: bool = False


@dataclass
class Exchanges:
    """Everything found in one round, by node.

    `served` are routes that the module offers itself, `others` calls that also send what is no generate request.
    """

    sends: dict[int, Send] = field(default_factory=dict)
    controls: dict[tuple[int, str], Control] = field(default_factory=dict)
    routes: dict[tuple[Endpoint, tuple[Piece, ...], str], None] = field(default_factory=dict)
    served: dict[int, ast.Call] = field(default_factory=dict)
    others: set[int] = field(default_factory=set)

    def controls_at(self, node: ast.Call) -> list[Control]:
        """The control routes that a call may go to."""
        return [control for control in self.controls.values() if control.node is node]
