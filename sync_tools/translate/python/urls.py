"""Addresses as they are put together, taken apart and compared: the literal text that names a route is noted."""

from typing import TYPE_CHECKING

from sync_tools.translate.python import routes
from sync_tools.translate.python.lattice import NOTHING, UNKNOWN, Piece, Seq, Text, Value, join, value

if TYPE_CHECKING:
    from sync_tools.translate.python.call import Call
    from sync_tools.translate.python.interpret import Analysis


def note(an: "Analysis", matched: list[routes.Match]) -> None:
    """These routes are the engine's."""
    for match in matched:
        an.exchanges.routes[match] = None


def addressed(an: "Analysis", url: Value) -> Value:
    """An address has been put together: one of the engine's is known by what stands before its route."""
    note(
        an,
        [
            m
            for m in routes.matches(an.rules, frozenset(t for t in routes.texts(url) if t.engine))
            if m[1][-1].node >= 0
        ],
    )
    return url


def model_url(an: "Analysis", call: "Call") -> Value:
    """get_model_url(args, name, endpoint): an address of the engine."""
    endpoint, node = call.argument(2, "endpoint")
    found = [value(Text((Piece(routes.GENERATE, -1),), False, True))] if node is None and not endpoint else []
    for atom in endpoint:
        found.append(value(Text(atom.pieces, False, True)) if isinstance(atom, Text) else UNKNOWN)
    held = join(*found)
    note(an, [m for m in routes.matches(an.rules, held) if m[1][-1].node >= 0])
    return held


def cut(an: "Analysis", of: Text, name: str, call: "Call") -> Value:
    """A string method that takes a part of an address."""
    argument = call.args[0] if call.args else NOTHING
    if routes.matches(an.rules, value(of)):
        note(an, routes.matches(an.rules, argument))
    if name == "replace" and len(call.args) > 1:
        return join(*(value(Text(a.pieces, False, of.engine)) for a in call.args[1] if isinstance(a, Text))) or UNKNOWN
    if name in ("removesuffix", "removeprefix"):
        return value(Text((), False, of.engine))
    if name in ("rsplit", "split", "partition", "rpartition"):
        return value(Seq(value(Text((), False, of.engine))))
    return UNKNOWN


def compared(an: "Analysis", left: Value, right: Value) -> None:
    """An address that is compared with a literal one."""
    for one, other in ((left, right), (right, left)):
        if any(isinstance(a, Text) and a.engine for a in one) and routes.matches(an.rules, one):
            note(an, routes.matches(an.rules, other))
