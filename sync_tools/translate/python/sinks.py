"""Where requests leave for the engine."""

import ast
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sync_tools.translate.python import routes, urls
from sync_tools.translate.python.exchange import Control, Send
from sync_tools.translate.python.lattice import (
    NONE,
    NOTHING,
    TRANSLATED,
    UNKNOWN,
    Dumped,
    Named,
    Value,
    Wire,
    alone,
    dicts,
    join,
    value,
    wires,
)
from sync_tools.translate.python.rules import Endpoint
from sync_tools.translate.python.scope import Frame
from sync_tools.translate.python.tokenizers import args_in_reach, tokenizer_in_reach

if TYPE_CHECKING:
    from sync_tools.translate.python.call import Call
    from sync_tools.translate.python.interpret import Analysis

_BODY_NAMES = ("payload", "json", "data", "content", "body")
_METHOD_FIRST = {"request", "stream", "build_request"}


@dataclass(frozen=True)
class Outgoing:
    """A call that sends something somewhere: by a `function` that posts, or by an HTTP `client`."""

    kind: str
    method: str
    call: "Call"
    url: Value
    url_node: ast.expr | None
    body: Value
    body_node: ast.expr | None


def is_post(dotted: str) -> bool:
    return dotted.endswith("http_utils.post")


def posted(an: "Analysis", call: "Call", frame: Frame) -> Value:
    """A call of the function that posts a body and gives the decoded answer."""
    url, url_node = call.argument(0, "url")
    body, body_node = call.argument(1, "payload")
    return _send(an, Outgoing("function", "post", call, url, url_node, body, body_node), frame)


def requested(an: "Analysis", method: str, call: "Call", frame: Frame) -> Value:
    """A call of an HTTP client's method."""
    first = 1 if method in _METHOD_FIRST else 0
    url, url_node = call.argument(first, "url")
    body, body_node = _body_of(an, call)
    verb = (routes.one_constant(call.args[0]) or "").lower() if first and call.args else method
    return _send(an, Outgoing("client", verb, call, url, url_node, body, body_node), frame)


def opened(an: "Analysis", call: "Call", frame: Frame) -> Value:
    """urllib: a Request, or the opening of one."""
    sent = wires(call.every(), "response")
    if sent:
        return value(sent[0])
    url, url_node = call.argument(0, "url")
    body, body_node = call.argument(1, "data")
    body, body_node = _undumped(an, body, body_node)
    verb = "get" if body_node is None else "post"
    return _send(an, Outgoing("client", verb, call, url, url_node, body, body_node), frame)


def foreign(an: "Analysis", call: "Call", frame: Frame) -> Value | None:
    """A call of something that we do not see, with a posting function, or an engine's address and a request."""
    if TRANSLATED in call.every():
        return None
    given = (*call.args, *call.keywords.values())
    generate = any(endpoint.old == routes.GENERATE for held in given for endpoint, *_ in routes.matches(an.rules, held))
    if not generate and not any(routes.looks_like_request(an, held) for held in given):
        return None
    poster = next((i for i, held in enumerate(call.args) if _is_poster(held)), None)
    if poster is not None:
        return posted(an, call.handed_on(poster + 1), frame)
    if not generate or not any(dicts(held) for held in given):
        return None
    for held in given:
        urls.note(an, [match for match in routes.matches(an.rules, held) if match[0].old == routes.GENERATE])
        an.let_go(held)
    number = an.source.number(call.node)
    an.exchanges.sends.setdefault(number, Send("foreign", call.node, frame.scope, call.callee, None))
    return value(Wire("answer", number))


def serves(an: "Analysis", call: "Call") -> None:
    """app.router.add_post("/generate", handler): a server of the engine's routes."""
    if any(routes.matches(an.rules, held) for held in call.args[:2]):
        an.exchanges.served[an.source.number(call.node)] = call.node


def _send(an: "Analysis", out: Outgoing, frame: Frame) -> Value:
    """Decides from address and body what is sent; what comes back."""
    number = an.source.number(out.call.node)
    if TRANSLATED in out.call.every():
        return UNKNOWN
    matched = routes.matches(an.rules, out.url)
    if matched and _is_served(an, out.call.node, out.url):
        an.exchanges.served[number] = out.call.node
        return UNKNOWN
    generate = [match for match in matched if match[0].old == routes.GENERATE]
    if generate and not routes.is_foreign_body(an, out.body, out.url):
        urls.note(an, matched)
        if len(matched) > len(generate):
            an.exchanges.others.add(number)
        for endpoint in {match[0] for match in matched} - {match[0] for match in generate}:
            _control(an, replace(out, body=out.body | UNKNOWN), number, endpoint)
        return _request(an, out, number, frame, unseen=False)
    an.exchanges.others.add(number)
    if matched and not generate:
        urls.note(an, matched)
        for endpoint, *_ in matched:
            _control(an, out, number, endpoint)
        return UNKNOWN
    sure = routes.looks_like_request(an, out.body)
    if routes.is_opaque(out.url) and (sure or _is_unseen(an, out)):
        an.exchanges.others.discard(number)
        return _request(an, out, number, frame, unseen=not sure)
    an.let_go(out.body)
    return UNKNOWN


def _request(an: "Analysis", out: Outgoing, number: int, frame: Frame, unseen: bool) -> Value:
    """A generate request leaves here."""
    send = an.exchanges.sends.get(number)
    if send is None:
        callee = out.call.callee if out.kind == "function" else None
        send = Send(out.kind, out.call.node, frame.scope, callee, out.body_node, unseen=unseen)
        an.exchanges.sends[number] = send
    send.bodies |= set(dicts(out.body))
    send.named = join(send.named, out.body)
    send.unseen = send.unseen and unseen
    send.tokenizer = send.tokenizer or tokenizer_in_reach(an, frame)
    if any(text.engine for text in routes.texts(out.url)):
        send.args = send.args or args_in_reach(an, frame)
    for site in dicts(out.body):
        an.heap.sites[site].roles.add("request")
        for held in dicts(an.heap.read(site, "sampling_params")):
            an.heap.sites[held].roles.add("sampling")
    return value(Wire("answer" if out.kind == "function" else "response", number))


def _control(an: "Analysis", out: Outgoing, number: int, endpoint: Endpoint) -> None:
    key = (number, endpoint.old)
    control = an.exchanges.controls.setdefault(
        key, Control(out.call.node, endpoint, out.method, out.url_node, out.body_node)
    )
    control.bodies |= set(dicts(out.body))
    control.unseen = control.unseen or not alone(out.body - NONE)


def _body_of(an: "Analysis", call: "Call") -> tuple[Value, ast.expr | None]:
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


def _is_unseen(an: "Analysis", out: Outgoing) -> bool:
    """Whether nothing is known of what `post` sends: the seam looks at it when it is sent."""
    sites = [an.heap.sites[site] for site in dicts(out.body)]
    if out.kind != "function" or any(site.fields for site in sites):
        return False
    return not alone(out.body - NONE) or any(site.outside for site in sites)


def _is_served(an: "Analysis", node: ast.Call, url: Value) -> bool:
    """Whether a call declares the route of a server instead of asking one: `@app.post("/generate")`, `add_post(...)`."""
    function = an.source.parent(node)
    decorates = isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) and node in function.decorator_list
    return decorates and any(text.whole for text in routes.texts(url))


def _is_poster(held: Value) -> bool:
    return any(isinstance(atom, Named) and is_post(atom.dotted) for atom in held)
