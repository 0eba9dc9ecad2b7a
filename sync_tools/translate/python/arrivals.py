"""Where answers arrive: responses that are decoded, lines of a stream, chunks that helpers hand back."""

import ast
from typing import TYPE_CHECKING

from sync_tools.translate.python.lattice import UNKNOWN, Dict, Seq, Tup, Value, Wire, join, value, wires
from sync_tools.translate.python.reads import ANSWER_KEYS
from sync_tools.translate.python.scope import Frame, Scope

if TYPE_CHECKING:
    from sync_tools.translate.python.call import Call
    from sync_tools.translate.python.interpret import Analysis

_OF_STREAM = ("lines", "line", "chunk")


def decoded(an: "Analysis", call: "Call", of: Value, frame: Frame) -> Value:
    """JSON is decoded: of a response's body, or of a line of a stream."""
    found = []
    for wire in wires(of, "body", "response"):
        if wire.sink in an.exchanges.sends:
            send = an.exchanges.sends[wire.sink]
            same = isinstance(send.body, ast.Name) and an.lookup(send.body.id, frame) == send.named
            _, before = send.arrivals.get(an.source.number(call.node), (None, True))
            send.arrivals[an.source.number(call.node)] = (frame.scope, same and before)
            found.append(value(Wire("answer", wire.sink)))
    for wire in wires(of, "line", "lines"):
        found.append(_chunk(an, call.node, wire, frame.scope))
    return join(*found) if found else UNKNOWN


def awaited(an: "Analysis", node: ast.Await) -> None:
    """An answer that arrives when the call is awaited is wrapped behind the await."""
    inner, outer = an.source.number(node.value), an.source.number(node)
    for send in an.exchanges.sends.values():
        for places in (send.arrivals, send.chunks):
            if inner in places:
                places[outer] = places.pop(inner)


def iterated(an: "Analysis", node: ast.AST, of: Value, frame: Frame) -> Value:
    """A loop over lines; the response or its content counts as its lines."""
    found = []
    for atom in of:
        if isinstance(atom, Dict):
            an.heap.mark(atom.site, dynamic=True)
        if isinstance(atom, Wire) and atom.kind in ("body", "response"):
            found.append(lined(an, node.iter, atom, frame))
        else:
            found.append(value(atom))
    return join(*found)


def lined(an: "Analysis", node: ast.AST, of: Wire, frame: Frame) -> Value:
    """The lines of a response, made at a node."""
    if of.sink in an.exchanges.sends:
        an.exchanges.sends[of.sink].lines[an.source.number(node)] = frame.scope
    return value(Wire("lines", of.sink))


def returned(an: "Analysis", given: Value, call: "Call", frame: Frame) -> Value:
    """A decoded line that a helper gives back is read where the loop is."""
    found = []
    for atom in given:
        if isinstance(atom, Wire) and atom.kind == "chunk":
            found.append(_chunk(an, call.node, atom, frame.scope))
        else:
            found.append(value(atom))
    return join(*found)


def _chunk(an: "Analysis", node: ast.AST, wire: Wire, scope: Scope) -> Value:
    send = an.exchanges.sends.get(wire.sink)
    if send is None:
        return UNKNOWN
    if any(scope.within(loop) for loop in send.lines.values()):
        send.chunks[an.source.number(node)] = scope
        return value(Wire("answer", wire.sink))
    return value(Wire("chunk", wire.sink))


def read(an: "Analysis", of: Wire, key: str, node: ast.AST) -> None:
    """A key is read: of an answer, or of what has not been decoded where we see it."""
    send = an.exchanges.sends.get(of.sink)
    if send is None:
        return
    if of.kind in ("response", "raw", "chunk"):
        elsewhere(an, of, an.source.number(node))
    elif of.kind == "answer" and key in ANSWER_KEYS:
        send.read = True


def elsewhere(an: "Analysis", of: Wire, number: int) -> None:
    """An answer, or a line of a stream, is decoded at a place that cannot be rewritten."""
    send = an.exchanges.sends.get(of.sink)
    if send is not None:
        send.unread.add(number)
        send.adrift = send.adrift or of.kind in _OF_STREAM


def let_go(an: "Analysis", held: Value) -> None:
    """A value that leaves: a response nobody here decoded is answered for by nobody."""
    for atom in held:
        if isinstance(atom, Wire) and atom.kind in ("response", "body", "lines", "line", "chunk"):
            send = an.exchanges.sends.get(atom.sink)
            if send is not None:
                send.left = True
                send.adrift = send.adrift or atom.kind in _OF_STREAM
        elif isinstance(atom, Seq):
            let_go(an, atom.element)
        elif isinstance(atom, Tup):
            for element in atom.elements:
                let_go(an, element)
