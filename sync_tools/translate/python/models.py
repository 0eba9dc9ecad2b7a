"""What library functions do with the values that matter."""

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from sync_tools.translate.python import arrivals, sinks, text, urls
from sync_tools.translate.python.call import Call
from sync_tools.translate.python.expressions import attribute
from sync_tools.translate.python.heap import KeyUse
from sync_tools.translate.python.lattice import (
    NOTHING,
    UNKNOWN,
    Dict,
    Dumped,
    Func,
    Inst,
    Named,
    Opaque,
    Partial,
    Seq,
    Thing,
    Value,
    dicts,
    elements,
    join,
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
_CLIENTS = ("aiohttp.ClientSession", "httpx.AsyncClient", "httpx.Client", "requests.Session", "requests.session")
_SENDS = {"post", "get", "put", "request", "stream", "build_request"}
_DECODES = {"json.loads", "orjson.loads", "ujson.loads", "json.load"}
_ENCODES = {"json.dumps", "orjson.dumps", "ujson.dumps"}
_COPIES = {"copy.copy", "copy.deepcopy", "deepcopy", "dict", "collections.OrderedDict", "OrderedDict"}
_OBJECTS = {"types.SimpleNamespace", "argparse.Namespace", "SimpleNamespace", "Namespace"}


def function(an: "Analysis", dotted: str, call: Call, frame: Frame) -> Value:
    """What a function known by name gives."""
    if sinks.is_post(dotted):
        return sinks.posted(an, call, frame)
    if dotted in _ENCODES:
        return value(Dumped(an.source.number(call.arg_nodes[0]))) if call.arg_nodes and call.arg_nodes[0] else UNKNOWN
    if dotted in _DECODES:
        dumped = [an.value_of(an.source.nodes[atom.node]) for atom in call.every() if isinstance(atom, Dumped)]
        if dumped:
            return copied(an, call, *dumped)
        return arrivals.decoded(an, call, call.every(), frame)
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
        return urls.model_url(an, call)
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
        return sinks.requested(an, name, call, frame)
    if dotted.endswith(("urllib.request.Request", "urllib.request.urlopen")):
        return sinks.opened(an, call, frame)
    return unknown(an, call, frame)


def unknown(an: "Analysis", call: Call, frame: Frame) -> Value:
    """A call that leaves the module: what it is given may be read there, functions it is given may be called."""
    sent = sinks.foreign(an, call, frame)
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


def _copy(an: "Analysis", call: Call, frame: Frame) -> Value:
    return copied(an, call, *call.args)


def copied(an: "Analysis", call: Call, *parts: Value) -> Value:
    """dict(x, key=...), x.copy(), deepcopy(x): a dict of its own with the same keys."""
    kept = [frozenset(atom for atom in part if not isinstance(atom, Dict | Opaque | Thing)) for part in parts]
    if parts and not any(isinstance(atom, Dict | Opaque | Thing | Seq) for part in parts for atom in part):
        return join(*parts)
    site = an.source.number(call.node)
    an.heap.site(site)
    for part in parts:
        an.merge(site, part, late=False)
    for keyword in call.node.keywords:
        if keyword.arg in call.keyword_nodes:
            an.heap.write(site, keyword.arg, call.keywords[keyword.arg])
            an.heap.use([site], KeyUse(keyword.arg, an.source.number(keyword), "write", True))
        elif keyword.arg is None:
            an.merge(site, an.value_of(keyword.value), late=True)
    return join(value(Dict(site)), *kept)


def hand_on(an: "Analysis", call: Call, frame: Frame, first: int) -> Value:
    """asyncio.to_thread(f, ...), loop.run_in_executor(None, f, ...)."""
    if len(call.args) < first:
        return unknown(an, call, frame)
    callee, node = call.args[first - 1], call.arg_nodes[first - 1]
    whole = call.handed_on(first)
    if isinstance(node, ast.Attribute) and not any(isinstance(a, Named | Func | Partial) for a in callee):
        return an.method(an.value_of(node.value), node.attr, whole, frame)
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
        arrivals.elsewhere(an, wire, an.source.number(call.node))
    return sequence(given)


def _filter(an: "Analysis", call: Call, frame: Frame) -> Value:
    return call.args[1] if len(call.args) > 1 else UNKNOWN


def _cast(an: "Analysis", call: Call, frame: Frame) -> Value:
    return call.args[1] if len(call.args) > 1 else UNKNOWN


def _super(an: "Analysis", call: Call, frame: Frame) -> Value:
    return an.classes.super_of(an, frame)


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
    "asyncio.to_thread": lambda an, call, frame: hand_on(an, call, frame, 1),
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
