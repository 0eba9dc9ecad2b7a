"""Where requests leave for the engine and where its answers arrive."""

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sync_tools.translate.python import routes
from sync_tools.translate.python.calls import Call
from sync_tools.translate.python.lattice import (
    NONE,
    NOTHING,
    TRANSLATED,
    UNKNOWN,
    Dict,
    Dumped,
    Named,
    Piece,
    Seq,
    Text,
    Tup,
    Value,
    Wire,
    dicts,
    join,
    value,
    wires,
)
from sync_tools.translate.python.rules import Endpoint
from sync_tools.translate.python.scope import Frame, Scope
from sync_tools.translate.python.tokenizers import tokenizer_in_reach

if TYPE_CHECKING:
    from sync_tools.translate.python.interpret import Analysis

_BODY_NAMES = ("payload", "json", "data", "content", "body")
_METHOD_FIRST = {"request", "stream", "build_request"}


@dataclass
class Send:
    """One place that sends a generate request.

    A `function` gives the decoded answer itself; a `client` gives a response that is decoded elsewhere. `callee` is what
    to wrap of a function, `body` the expression to build the request from. `adrift`: lines of the stream are decoded where the loop
    over them is not in sight.
    """

    kind: str
    node: ast.Call
    scope: Scope
    callee: ast.expr | None
    body: ast.expr | None
    bodies: set[int] = field(default_factory=set)
    named: Value = NOTHING
    tokenizer: str | None = None
    unseen: bool = False
    arrivals: dict[int, tuple[Scope, bool]] = field(default_factory=dict)
    lines: dict[int, Scope] = field(default_factory=dict)
    chunks: dict[int, Scope] = field(default_factory=dict)
    unread: set[int] = field(default_factory=set)
    adrift: bool = False


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


class Sinks:
    """The exchanges that a module has with the engine."""

    def __init__(self) -> None:
        self.sends: dict[int, Send] = {}
        self.controls: dict[tuple[int, str], Control] = {}
        self.served: dict[int, ast.Call] = {}
        self.routes: dict[tuple[Endpoint, tuple[Piece, ...], str], None] = {}
        self.foreign_calls: dict[int, ast.Call] = {}
        self.others: set[int] = set()

    # -- sends ---------------------------------------------------------------------------------------------------

    def is_post(self, dotted: str) -> bool:
        return dotted.endswith("http_utils.post")

    def posted(self, an: "Analysis", call: Call, frame: Frame) -> Value:
        """A call of the function that posts a body and gives the decoded answer."""
        url, url_node = call.argument(0, "url")
        body, body_node = call.argument(1, "payload")
        return self._send(an, "function", "post", call, (url, url_node), body, body_node, frame)

    def requested(self, an: "Analysis", method: str, call: Call, frame: Frame) -> Value:
        """A call of an HTTP client's method."""
        first = 1 if method in _METHOD_FIRST else 0
        url = call.argument(first, "url")
        body, body_node = _body_of(an, call)
        verb = (routes.one_constant(call.args[0]) or "").lower() if first and call.args else method
        return self._send(an, "client", verb, call, url, body, body_node, frame)

    def opened(self, an: "Analysis", call: Call, frame: Frame) -> Value:
        """urllib: a Request, or the opening of one."""
        sent = wires(call.every(), "response")
        if sent:
            return value(sent[0])
        url = call.argument(0, "url")
        body, body_node = call.argument(1, "data")
        body, body_node = _undumped(an, body, body_node)
        return self._send(an, "client", "post" if body_node is not None else "get", call, url, body, body_node, frame)

    def foreign(self, an: "Analysis", call: Call, frame: Frame) -> Value | None:
        """A call of something unknown that gets a posting function, or an engine's address and a request."""
        poster = next((i for i, held in enumerate(call.args) if _is_poster(self, held)), None)
        if TRANSLATED in call.every():
            return None
        endpoints = {e for held in (*call.args, *call.keywords.values()) for e, *_ in routes.matches(an.rules, held)}
        generate = any(e.new and e.old == "/generate" for e in endpoints)
        requests = [held for held in call.args if routes.looks_like_request(an, held)]
        if not generate and not requests:
            return None
        if poster is not None:
            inner = call.handed_on(poster + 1)
            return self.posted(an, inner, frame)
        if generate and any(dicts(held) for held in call.args):
            self.foreign_calls[an.source.number(call.node)] = call.node
        return None

    def serves(self, an: "Analysis", call: Call) -> None:
        """app.router.add_post("/generate", handler): a server of the engine's routes."""
        if any(routes.matches(an.rules, held) for held in call.args[:2]):
            self.served[an.source.number(call.node)] = call.node

    def _send(
        self,
        an: "Analysis",
        kind: str,
        method: str,
        call: Call,
        address: tuple[Value, ast.expr | None],
        body: Value,
        body_node: ast.expr | None,
        frame: Frame,
    ) -> Value:
        number = an.source.number(call.node)
        url, url_node = address
        if TRANSLATED in call.every():
            return UNKNOWN
        matched = routes.matches(an.rules, url)
        generate = [m for m in matched if m[0].old == "/generate"]
        if generate and _is_served(an, call.node, url):
            self.served[number] = call.node
            return UNKNOWN
        if generate and not routes.is_foreign_body(an, body, url):
            self._route(matched)
            if len(matched) > len(generate):
                self.others.add(number)
            for endpoint in {m[0] for m in matched} - {m[0] for m in generate}:
                self._control(number, call, endpoint, method, url_node, body | UNKNOWN, body_node)
        elif matched and not generate:
            if _is_served(an, call.node, url):
                self.served[number] = call.node
                return UNKNOWN
            self._route(matched)
            self.others.add(number)
            for endpoint, *_ in matched:
                self._control(number, call, endpoint, method, url_node, body, body_node)
            return UNKNOWN
        elif not (routes.is_opaque(url) and (routes.looks_like_request(an, body) or _is_unseen(an, kind, body))):
            an.let_go(body)
            self.others.add(number)
            return UNKNOWN
        send = self.sends.get(number)
        fresh = send is None
        if send is None:
            callee = call.callee if kind == "function" else None
            send = self.sends[number] = Send(kind, call.node, frame.scope, callee, body_node)
        send.bodies |= set(dicts(body))
        send.named = join(send.named, body)
        send.unseen = not generate and not routes.looks_like_request(an, body) and (fresh or send.unseen)
        send.tokenizer = send.tokenizer or tokenizer_in_reach(an, frame)
        for site in dicts(body):
            an.heap.sites[site].roles.add("request")
            for held in dicts(an.heap.read(site, "sampling_params")):
                an.heap.sites[held].roles.add("sampling")
        return value(Wire("answer" if kind == "function" else "response", number))

    def controls_at(self, node: ast.Call) -> list[Control]:
        """The control routes that a call may go to."""
        return [control for control in self.controls.values() if control.node is node]

    def _control(
        self,
        number: int,
        call: Call,
        endpoint: Endpoint,
        method: str,
        url_node: ast.expr | None,
        body: Value,
        body_node: ast.expr | None,
    ) -> None:
        key = (number, endpoint.old)
        control = self.controls.setdefault(key, Control(call.node, endpoint, method, url_node, body_node))
        control.bodies |= set(dicts(body))
        control.unseen = control.unseen or any(not isinstance(a, Dict) and a not in NONE for a in body)

    def _route(self, matched: list[tuple[Endpoint, tuple[Piece, ...], str]]) -> None:
        for match in matched:
            self.routes[match] = None

    # -- addresses -----------------------------------------------------------------------------------------------

    def addressed(self, an: "Analysis", url: Value) -> Value:
        """An address has been put together: one of the engine's is known by what stands before its route."""
        self._route(
            [
                m
                for m in routes.matches(an.rules, frozenset(t for t in routes.texts(url) if t.engine))
                if m[1][-1].node >= 0
            ]
        )
        return url

    def model_url(self, an: "Analysis", call: Call) -> Value:
        """get_model_url(args, name, endpoint): an address of the engine."""
        endpoint, node = call.argument(2, "endpoint")
        found = [value(Text((Piece("/generate", -1),), False, True))] if node is None and not endpoint else []
        for atom in endpoint:
            found.append(value(Text(atom.pieces, False, True)) if isinstance(atom, Text) else UNKNOWN)
        held = join(*found)
        self._route([m for m in routes.matches(an.rules, held) if m[1][-1].node >= 0])
        return held

    def cut(self, an: "Analysis", of: Text, name: str, call: Call) -> Value:
        """A string method that takes a part of an address."""
        argument = call.args[0] if call.args else NOTHING
        if routes.matches(an.rules, value(of)):
            self._route(routes.matches(an.rules, argument))
        if name == "replace" and len(call.args) > 1:
            return (
                join(*(value(Text(a.pieces, False, of.engine)) for a in call.args[1] if isinstance(a, Text))) or UNKNOWN
            )
        if name in ("removesuffix", "removeprefix"):
            return value(Text((), False, of.engine))
        if name in ("rsplit", "split", "partition", "rpartition"):
            return value(Seq(value(Text((), False, of.engine))))
        return UNKNOWN

    def compared(self, an: "Analysis", left: Value, right: Value) -> None:
        """An address that is compared with a literal one."""
        for one, other in ((left, right), (right, left)):
            if any(isinstance(a, Text) and a.engine for a in one) and routes.matches(an.rules, one):
                self._route(routes.matches(an.rules, other))

    # -- answers -------------------------------------------------------------------------------------------------

    def decoded(self, an: "Analysis", call: Call, of: Value, frame: Frame) -> Value:
        """JSON is decoded: of a response's body, or of a line of a stream."""
        found = []
        for wire in wires(of, "body", "response"):
            if wire.sink in self.sends:
                send = self.sends[wire.sink]
                same = isinstance(send.body, ast.Name) and an.lookup(send.body.id, frame) == send.named
                _, before = send.arrivals.get(an.source.number(call.node), (None, True))
                send.arrivals[an.source.number(call.node)] = (frame.scope, same and before)
                found.append(value(Wire("answer", wire.sink)))
        for wire in wires(of, "line", "lines"):
            found.append(self._chunk(an, call.node, wire, frame.scope))
        return join(*found) if found else UNKNOWN

    def awaited(self, an: "Analysis", node: ast.Await) -> None:
        """An answer that arrives when the call is awaited is wrapped behind the await."""
        inner, outer = an.source.number(node.value), an.source.number(node)
        for send in self.sends.values():
            for places in (send.arrivals, send.chunks):
                if inner in places:
                    places[outer] = places.pop(inner)

    def iterated(self, an: "Analysis", node: ast.AST, of: Value, frame: Frame) -> Value:
        """A loop over lines; the response or its content counts as its lines."""
        found = []
        for atom in of:
            if isinstance(atom, Dict):
                an.heap.mark(atom.site, dynamic=True)
            if isinstance(atom, Wire) and atom.kind in ("body", "response"):
                found.append(self.lined(an, node.iter, atom, frame))
            else:
                found.append(value(atom))
        return join(*found)

    def lined(self, an: "Analysis", node: ast.AST, of: Wire, frame: Frame) -> Value:
        """The lines of a response, made at a node."""
        if of.sink in self.sends:
            self.sends[of.sink].lines[an.source.number(node)] = frame.scope
        return value(Wire("lines", of.sink))

    def returned(self, an: "Analysis", given: Value, call: Call, frame: Frame) -> Value:
        """A decoded line that a helper gives back is read where the loop is."""
        found = []
        for atom in given:
            if isinstance(atom, Wire) and atom.kind == "chunk":
                found.append(self._chunk(an, call.node, atom, frame.scope))
            else:
                found.append(value(atom))
        return join(*found)

    def _chunk(self, an: "Analysis", node: ast.AST, wire: Wire, scope: Scope) -> Value:
        send = self.sends.get(wire.sink)
        if send is None:
            return UNKNOWN
        if any(scope.within(loop) for loop in send.lines.values()):
            send.chunks[an.source.number(node)] = scope
            return value(Wire("answer", wire.sink))
        return value(Wire("chunk", wire.sink))

    def unread(self, an: "Analysis", wire: Wire, node: ast.AST) -> None:
        if wire.sink in self.sends:
            self._unseen_read(wire, an.source.number(node))

    def _unseen_read(self, wire: Wire, number: int) -> None:
        send = self.sends[wire.sink]
        send.unread.add(number)
        send.adrift = send.adrift or wire.kind in ("lines", "line", "chunk")

    def let_go(self, an: "Analysis", held: Value) -> None:
        """A value that leaves: a response nobody here decoded is answered for by nobody."""
        for atom in held:
            if isinstance(atom, Wire) and atom.kind in ("response", "body", "lines", "line", "chunk"):
                if atom.sink in self.sends:
                    self._unseen_read(atom, atom.sink)
            elif isinstance(atom, Seq):
                self.let_go(an, atom.element)
            elif isinstance(atom, Tup):
                for element in atom.elements:
                    self.let_go(an, element)


def _body_of(an: "Analysis", call: Call) -> tuple[Value, ast.expr | None]:
    for name in _BODY_NAMES:
        if name in call.keywords:
            return _undumped(an, call.keywords[name], call.keyword_nodes.get(name))
    for held, node in zip(call.args[1:], call.arg_nodes[1:], strict=True):
        if dicts(held):
            return held, node
    return NOTHING, None


def _undumped(an: "Analysis", body: Value, node: ast.expr | None) -> tuple[Value, ast.expr | None]:
    """What JSON text was made from."""
    for atom in body:
        if isinstance(atom, Dumped):
            inner = an.source.nodes[atom.node]
            return an.value_of(inner), inner
    return body, node


def _is_unseen(an: "Analysis", kind: str, body: Value) -> bool:
    """Whether nothing is known of what `post` sends: the seam looks at it when it is sent."""
    if kind != "function" or any(an.heap.sites[site].fields for site in dicts(body)):
        return False
    return any(not isinstance(atom, Dict) for atom in body - NONE) or any(an.heap.sites[s].outside for s in dicts(body))


def _is_served(an: "Analysis", node: ast.Call, url: Value) -> bool:
    """Whether a call declares the route of a server instead of asking one: `@app.post("/generate")`, `add_post(...)`."""
    function = an.source.parent(node)
    decorates = isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) and node in function.decorator_list
    return decorates and any(text.whole for text in routes.texts(url))


def _is_poster(sinks: Sinks, held: Value) -> bool:
    return any(isinstance(atom, Named) and sinks.is_post(atom.dotted) for atom in held)
