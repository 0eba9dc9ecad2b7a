"""What methods do with the values that matter."""

import ast
from typing import TYPE_CHECKING

from sync_tools.translate.python import arrivals, models, reads, sinks, text, urls
from sync_tools.translate.python.call import Call
from sync_tools.translate.python.expressions import attribute, read_key
from sync_tools.translate.python.heap import KeyUse
from sync_tools.translate.python.lattice import (
    NOTHING,
    UNKNOWN,
    Class,
    Dict,
    Dumped,
    Inst,
    Named,
    Opaque,
    Seq,
    Super,
    Text,
    Thing,
    Tup,
    Value,
    Wire,
    elements,
    join,
    ordered,
    sequence,
    tuple_of,
    value,
)
from sync_tools.translate.python.scope import Frame

if TYPE_CHECKING:
    from sync_tools.translate.python.interpret import Analysis

_LOGS = {"debug", "info", "warning", "error", "exception", "critical", "log"}
_SENDS = {"post", "get", "put", "request", "stream", "build_request"}
_SERVES = {"add_post", "add_get", "add_route", "add_api_route", "add_url_rule"}
_STREAMED = {"aiter_lines", "iter_lines"}
_ENTERS = {"enter_context", "enter_async_context"}
_BODIES = {"text", "read", "aread", "getvalue"}


def method(an: "Analysis", receiver: Value, name: str, call: Call, frame: Frame) -> Value:
    """`receiver.name(...)`."""
    if name in ("append", "add", "extend", "appendleft", "insert", "put_nowait") and call.args:
        grown = _grown(an, receiver, name, call, frame)
        if grown is not None:
            return grown
    found = [NOTHING]
    for atom in ordered(receiver):
        found.append(_method_of(an, atom, name, call, frame))
    return join(*found) or UNKNOWN


def _method_of(an: "Analysis", atom: object, name: str, call: Call, frame: Frame) -> Value:
    if isinstance(atom, Super):
        inherited = an.classes.inherited(atom, name)
        return UNKNOWN if inherited is None else an.calls.apply(an, value(inherited), call, frame)
    if isinstance(atom, Named):
        return models.function(an, f"{atom.dotted}.{name}", call, frame)
    if isinstance(atom, Inst):
        return an.calls.apply(an, an.calls.member(an, atom, name, call.node.func, frame), call, frame)
    if isinstance(atom, Class):
        return an.calls.apply(an, attribute(an, value(atom), name, call.node, frame), call, frame)
    if isinstance(atom, Dict):
        return _dict_method(an, atom.site, name, call, frame)
    if isinstance(atom, Text | Dumped):
        return _text_method(an, atom, name, call)
    if isinstance(atom, Wire):
        return _wire_method(an, atom, name, call, frame)
    if isinstance(atom, Seq | Tup):
        return (
            elements(value(atom))
            if name in ("pop", "popleft", "get_nowait")
            else value(atom)
            if name == "copy"
            else UNKNOWN
        )
    if isinstance(atom, Thing) and atom.kind in ("tokenizer", "none", "translated"):
        return UNKNOWN
    if name == "copy" and not call.args and isinstance(atom, Opaque):
        return models.copied(an, call, value(atom))
    if name in _ENTERS and call.args:
        return an.calls.entered(an, call.args[0], frame)
    if name == "run_in_executor":
        return models.hand_on(an, call, frame, 2)
    if name == "create_task" and call.args:
        return call.args[0]
    if name in ("send", "execute") and call.args and any(isinstance(a, Wire) for a in call.args[0]):
        return call.args[0]
    if name in _SENDS:
        return sinks.requested(an, name, call, frame)
    if name in _SERVES:
        sinks.serves(an, call)
    if name in _LOGS and isinstance(atom, Opaque | Thing) and "log" in ast.unparse(call.callee).lower():
        return UNKNOWN
    return models.unknown(an, call, frame)


def _grown(an: "Analysis", receiver: Value, name: str, call: Call, frame: Frame) -> Value | None:
    """A list that a name or an attribute holds, with one more element."""
    if not all(isinstance(atom, Seq | Tup) for atom in receiver):
        return None
    added = elements(call.args[0]) if name == "extend" else call.args[-1]
    target = call.node.func.value
    if isinstance(target, ast.Name | ast.Attribute):
        an.assign(target, sequence(join(elements(receiver) if receiver else NOTHING, added)), frame)
    return UNKNOWN


def _dict_method(an: "Analysis", site: int, name: str, call: Call, frame: Frame) -> Value:
    held = an.heap.sites[site]
    of = value(Dict(site))
    if name in ("get", "pop", "setdefault") and call.args:
        key = text.one_constant(call.args[0])
        default = call.args[1] if len(call.args) > 1 else text.NONE_VALUE
        if key is None:
            an.heap.mark(site, dynamic=True)
            return join(UNKNOWN, default)
        if name == "setdefault":
            an.heap.write(site, key, default)
            an.heap.use([site], KeyUse(key, an.source.number(call.arg_nodes[0]), "default", True))
        return join(read_key(an, of, key, call.node, call.arg_nodes[0], frame), default)
    if name == "update":
        for argument in call.args:
            an.merge(site, argument, late=True)
        for key, argument in call.keywords.items():
            an.heap.write(site, key, argument)
        for keyword in call.node.keywords:
            if keyword.arg in call.keyword_nodes:
                an.heap.use([site], KeyUse(keyword.arg, an.source.number(keyword), "write", True))
            elif keyword.arg is None:
                an.merge(site, an.value_of(keyword.value), late=True)
        return UNKNOWN
    if name == "copy":
        return models.copied(an, call, of)
    if name in ("items", "keys", "values"):
        an.heap.mark(site, dynamic=True)
        every = join(UNKNOWN, held.rest, *held.fields.values())
        return sequence(tuple_of((UNKNOWN, every)) if name == "items" else every if name == "values" else UNKNOWN)
    if name in ("clear",):
        return UNKNOWN
    an.heap.mark(site, dynamic=True)
    return UNKNOWN


def _text_method(an: "Analysis", atom: Text | Dumped, name: str, call: Call) -> Value:
    if name in text.UNCHANGED_BY:
        return value(atom)
    if isinstance(atom, Dumped):
        return UNKNOWN
    if name in ("rstrip", "strip"):
        return text.stripped(atom, text.one_constant(call.args[0]) if call.args else None)
    if name == "format" and atom.whole and atom.pieces:
        return urls.addressed(
            an, text.formatted(atom.tail, atom.pieces[-1].node, [*call.args, *call.keywords.values()])
        )
    if name == "join" and call.args:
        of = call.args[0]
        parts = next((list(a.elements) for a in of if isinstance(a, Tup)), [elements(of)])
        between = text.as_text(value(atom))
        return urls.addressed(an, text.concatenated([p for part in parts for p in (between, text.as_text(part))][1:]))
    if name in (
        "replace",
        "removesuffix",
        "removeprefix",
        "rsplit",
        "split",
        "endswith",
        "startswith",
        "partition",
        "rpartition",
    ):
        return urls.cut(an, atom, name, call)
    return UNKNOWN


def _wire_method(an: "Analysis", atom: Wire, name: str, call: Call, frame: Frame) -> Value:
    if atom.kind == "response":
        if name == "json":
            return arrivals.decoded(an, call, value(Wire("body", atom.sink)), frame)
        if name in _STREAMED:
            return arrivals.lined(an, call.node, atom, frame)
        if name in _BODIES:
            return value(Wire("body", atom.sink))
        return value(atom) if name in ("__aenter__", "__enter__") else UNKNOWN
    if atom.kind in ("body", "line", "lines"):
        if name in ("split", "splitlines", "rsplit", "partition", "rpartition"):
            return sequence(value(atom))
        if atom.kind == "body" and name in ("iter_any", "iter_lines", "__aiter__"):
            return value(Wire("lines", atom.sink))
        if name in (
            "read",
            "decode",
            "strip",
            "lstrip",
            "rstrip",
            "removeprefix",
            "removesuffix",
            "replace",
            "__aiter__",
        ):
            return value(atom)
        return value(Wire("line", atom.sink)) if name in ("__anext__", "readline") else UNKNOWN
    if name in ("get", "pop", "setdefault") and call.args:
        key = text.one_constant(call.args[0])
        default = call.args[1] if len(call.args) > 1 else text.NONE_VALUE
        if key is not None:
            arrivals.read(an, atom, key, call.node)
            return join(reads.part(atom, key), default)
    return value(atom) if name == "copy" else UNKNOWN
