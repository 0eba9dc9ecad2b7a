"""What library functions and methods do with the values that matter."""

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from sync_tools.translate.python import text
from sync_tools.translate.python.calls import Call
from sync_tools.translate.python.expressions import attribute, read_key
from sync_tools.translate.python.heap import KeyUse
from sync_tools.translate.python.lattice import (
    NOTHING,
    UNKNOWN,
    Class,
    Dict,
    Dumped,
    Func,
    Inst,
    Named,
    Opaque,
    Partial,
    Seq,
    Super,
    Text,
    Thing,
    Tup,
    Value,
    Wire,
    dicts,
    elements,
    join,
    ordered,
    sequence,
    tuple_of,
    value,
    wires,
)
from sync_tools.translate.python.scope import Frame

if TYPE_CHECKING:
    from sync_tools.translate.python.interpret import Analysis

_PASSED_ON = {
    *("asyncio.create_task", "asyncio.ensure_future", "asyncio.shield", "asyncio.wait_for", "asyncio.run", "list"),
    *(
        "tuple",
        "set",
        "sorted",
        "reversed",
        "iter",
        "aiter",
        "contextlib.closing",
        "contextlib.aclosing",
        "str",
        "bytes",
    ),
    *("itertools.cycle", "asyncio.as_completed", "frozenset", "collections.deque", "deque"),
}
_FIRST_ELEMENT = {"next", "anext", "max", "min", "random.choice"}
_HARMLESS = {
    "len",
    "print",
    "isinstance",
    "bool",
    "type",
    "id",
    "hasattr",
    "int",
    "float",
    "range",
    "any",
    "all",
    "sum",
    "repr",
}
_LOGS = {"debug", "info", "warning", "error", "exception", "critical", "log"}
_CLIENTS = ("aiohttp.ClientSession", "httpx.AsyncClient", "httpx.Client", "requests.Session", "requests.session")
_SENDS = {"post", "get", "put", "request", "stream", "build_request"}
_SERVES = {"add_post", "add_get", "add_route", "add_api_route", "add_url_rule"}
_DECODES = {"json.loads", "orjson.loads", "ujson.loads", "json.load"}
_ENCODES = {"json.dumps", "orjson.dumps", "ujson.dumps"}
_COPIES = {"copy.copy", "copy.deepcopy", "deepcopy", "dict", "collections.OrderedDict", "OrderedDict"}
_STREAMED = {"aiter_lines", "iter_lines"}
_ENTERS = {"enter_context", "enter_async_context"}
_OBJECTS = {"types.SimpleNamespace", "argparse.Namespace", "SimpleNamespace", "Namespace"}
_BODIES = {"text", "read", "aread", "getvalue"}


def function(an: "Analysis", dotted: str, call: Call, frame: Frame) -> Value:
    """What a function known by name gives."""
    if an.sinks.is_post(dotted):
        return an.sinks.posted(an, call, frame)
    if dotted in _ENCODES:
        return value(Dumped(an.source.number(call.arg_nodes[0]))) if call.arg_nodes and call.arg_nodes[0] else UNKNOWN
    if dotted in _DECODES:
        return an.sinks.decoded(an, call, call.every(), frame)
    if dotted in _COPIES:
        return _copy(an, call, frame)
    if dotted in _PASSED_ON:
        for site in dicts(call.args[0]) if call.args else ():
            an.heap.mark(site, dynamic=True)
        return call.args[0] if call.args else sequence(NOTHING)
    if dotted in _FIRST_ELEMENT:
        return elements(call.args[0]) if call.args else UNKNOWN
    if dotted in _HARMLESS:
        return UNKNOWN
    special = _FUNCTIONS.get(dotted)
    if special is not None:
        return special(an, call, frame)
    if dotted.endswith("get_model_url"):
        return an.sinks.model_url(an, call)
    if dotted.endswith("GenerateState"):
        return value(Thing("state"))
    if dotted.endswith(("load_tokenizer", "Tokenizer.from_pretrained")):
        return value(Thing("tokenizer"))
    if dotted in _CLIENTS:
        return value(Thing("client"))
    if an.is_seam(dotted):
        return value(Thing("translated"))
    name = dotted.rpartition(".")[2]
    if name in _SENDS and "." in dotted:
        return an.sinks.requested(an, name, call, frame)
    if dotted.endswith(("urllib.request.Request", "urllib.request.urlopen")):
        return an.sinks.opened(an, call, frame)
    return unknown(an, call, frame)


def unknown(an: "Analysis", call: Call, frame: Frame) -> Value:
    """A call that leaves the module: what it is given may be read there, functions it is given may be called."""
    sent = an.sinks.foreign(an, call, frame)
    if sent is not None:
        return sent
    for held in (*call.args, *call.keywords.values(), call.rest):
        an.let_go(held)
        _call_back(an, held, frame)
    return UNKNOWN


def _call_back(an: "Analysis", held: Value, frame: Frame) -> None:
    for atom in held:
        if isinstance(atom, Func):
            an.calls.invoke(an, atom.node, None, frame)


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
        inherited = an.calls.inherited(an, atom, name)
        return UNKNOWN if inherited is None else an.calls.apply(an, value(inherited), call, frame)
    if isinstance(atom, Named):
        return function(an, f"{atom.dotted}.{name}", call, frame)
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
        return _outside_copy(an, call, value(atom))
    if name in _ENTERS and call.args:
        return an.calls.entered(an, call.args[0], frame)
    if name == "run_in_executor":
        return _hand_on(an, call, frame, 2)
    if name == "create_task" and call.args:
        return call.args[0]
    if name in ("send", "execute") and call.args and any(isinstance(a, Wire) for a in call.args[0]):
        return call.args[0]
    if name in _SENDS:
        return an.sinks.requested(an, name, call, frame)
    if name in _SERVES:
        an.sinks.serves(an, call)
    if name in _LOGS and isinstance(atom, Opaque | Thing) and "log" in ast.unparse(call.callee).lower():
        return UNKNOWN
    return unknown(an, call, frame)


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
            if keyword.arg is not None and keyword.arg in call.keyword_nodes:
                an.heap.use([site], KeyUse(keyword.arg, an.source.number(keyword), "write", True))
        return UNKNOWN
    if name == "copy":
        return _copied(an, call, of)
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
        return an.sinks.addressed(
            an, text.formatted(atom.tail, atom.pieces[-1].node, [*call.args, *call.keywords.values()])
        )
    if name == "join" and call.args:
        of = call.args[0]
        parts = next((list(a.elements) for a in of if isinstance(a, Tup)), [elements(of)])
        between = text.as_text(value(atom))
        return an.sinks.addressed(
            an, text.concatenated([p for part in parts for p in (between, text.as_text(part))][1:])
        )
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
        return an.sinks.cut(an, atom, name, call)
    return UNKNOWN


def _wire_method(an: "Analysis", atom: Wire, name: str, call: Call, frame: Frame) -> Value:
    if atom.kind == "response":
        if name == "json":
            return an.sinks.decoded(an, call, value(Wire("body", atom.sink)), frame)
        if name in _STREAMED:
            return an.sinks.lined(an, call.node, atom, frame)
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
            return join(an.reads.key(an, atom, key, call.node), default)
    return an.reads.called(an, atom, name, call)


def _copy(an: "Analysis", call: Call, frame: Frame) -> Value:
    return _copied(an, call, *call.args)


def _copied(an: "Analysis", call: Call, *parts: Value) -> Value:
    """dict(x, key=...), x.copy(), deepcopy(x): a dict of its own with the same keys."""
    kept = [frozenset(atom for atom in part if not isinstance(atom, Dict | Opaque | Thing)) for part in parts]
    if parts and not any(isinstance(atom, Dict | Opaque | Thing | Seq) for part in parts for atom in part):
        return join(*parts)
    site = an.source.number(call.node)
    an.heap.site(site)
    for part in parts:
        an.merge(site, part, late=False)
    for keyword in call.node.keywords if call.keyword_nodes else ():
        if keyword.arg is not None:
            an.heap.write(site, keyword.arg, call.keywords[keyword.arg])
            an.heap.use([site], KeyUse(keyword.arg, an.source.number(keyword), "write", True))
        else:
            an.merge(site, an.value_of(keyword.value), late=True)
    return join(value(Dict(site)), *kept)


def _outside_copy(an: "Analysis", call: Call, of: Value) -> Value:
    return _copied(an, call, of)


def _hand_on(an: "Analysis", call: Call, frame: Frame, first: int) -> Value:
    """asyncio.to_thread(f, ...), loop.run_in_executor(None, f, ...)."""
    if len(call.args) < first:
        return unknown(an, call, frame)
    callee, node = call.args[first - 1], call.arg_nodes[first - 1]
    whole = call.handed_on(first)
    if isinstance(node, ast.Attribute) and not any(isinstance(a, Named | Func | Partial) for a in callee):
        return method(an, an.value_of(node.value), node.attr, whole, frame)
    return an.calls.apply(an, callee, whole, frame)


def _gather(an: "Analysis", call: Call, frame: Frame) -> Value:
    return sequence(call.rest) if call.rest else tuple_of(call.args)


def _partial(an: "Analysis", call: Call, frame: Frame) -> Value:
    if not call.args or call.rest or call.open:
        return unknown(an, call, frame)
    return value(
        Partial(an.source.number(call.node), call.args[0], call.args[1:], tuple(sorted(call.keywords.items())))
    )


def _getattr(an: "Analysis", call: Call, frame: Frame) -> Value:
    name = text.one_constant(call.args[1]) if len(call.args) > 1 else None
    default = call.args[2] if len(call.args) > 2 else NOTHING
    return UNKNOWN if name is None else join(attribute(an, call.args[0], name, call.node, frame), default)


def _urljoin(an: "Analysis", call: Call, frame: Frame) -> Value:
    return text.joined_path(call.args[0], call.args[1]) if len(call.args) > 1 else UNKNOWN


def _zip(an: "Analysis", call: Call, frame: Frame) -> Value:
    return sequence(tuple_of(tuple(elements(argument) for argument in call.args)))


def _enumerate(an: "Analysis", call: Call, frame: Frame) -> Value:
    return sequence(tuple_of((UNKNOWN, elements(call.args[0])))) if call.args else UNKNOWN


def _map(an: "Analysis", call: Call, frame: Frame) -> Value:
    each = tuple(elements(argument) for argument in call.args[1:])
    inner = Call(call.node, call.arg_nodes[0] or call.callee, each, (None,) * len(each), {}, {})
    given = an.calls.apply(an, call.args[0], inner, frame) if call.args else UNKNOWN
    for wire in wires(join(*each), "body", "line", "lines") if wires(given, "answer", "chunk") else ():
        an.sinks.unread(an, wire, call.node)
    return sequence(given)


def _filter(an: "Analysis", call: Call, frame: Frame) -> Value:
    return call.args[1] if len(call.args) > 1 else UNKNOWN


def _cast(an: "Analysis", call: Call, frame: Frame) -> Value:
    return call.args[1] if len(call.args) > 1 else UNKNOWN


def _super(an: "Analysis", call: Call, frame: Frame) -> Value:
    return an.calls.super_of(an, frame)


def _setattr(an: "Analysis", call: Call, frame: Frame) -> Value:
    name = text.one_constant(call.args[1]) if len(call.args) > 2 else None
    for atom in call.args[0] if name is not None else ():
        if isinstance(atom, Inst):
            an.heap.set_attribute(atom.cls, name, call.args[2])
    return UNKNOWN if name is not None else unknown(an, call, frame)


def _object(an: "Analysis", call: Call, frame: Frame) -> Value:
    """A namespace: an object with the attributes that it is given."""
    number = an.source.number(call.node)
    for name, held in call.keywords.items():
        an.heap.set_attribute(number, name, held)
    return value(Inst(number))


_FUNCTIONS: dict[str, Callable[["Analysis", Call, Frame], Value]] = {
    "asyncio.gather": _gather,
    "asyncio.to_thread": lambda an, call, frame: _hand_on(an, call, frame, 1),
    "functools.partial": _partial,
    "getattr": _getattr,
    "urllib.parse.urljoin": _urljoin,
    "zip": _zip,
    "enumerate": _enumerate,
    "map": _map,
    "filter": _filter,
    "typing.cast": _cast,
    "super": _super,
    "setattr": _setattr,
    **dict.fromkeys(_OBJECTS, _object),
}
