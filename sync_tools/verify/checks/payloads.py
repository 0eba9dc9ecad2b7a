"""Every literal key that is sent to the engine is a field of vLLM's request model.

vLLM ignores unknown keys, so a key of SGLang's is lost in silence. What passes through the seam's builder may have
upstream's keys: the builder converts them.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from sync_tools.verify import engine
from sync_tools.verify.model import Context, Finding
from sync_tools.verify.source import Source
from sync_tools.verify.urls import literal_keys, route_of, scope_of, values_of

SENDERS = frozenset({"post", "stream", "request", "_make_request", "make_request", "_post"})
TRIGGERS = frozenset({"sampling_params", "input_ids", "token_ids"})


@dataclass(frozen=True)
class Send:
    url: ast.expr
    body: ast.expr


def payloads(context: Context) -> Iterator[Finding]:
    for source in context.files():
        if source.module is None or not (source.words & TRIGGERS and source.words & SENDERS):
            continue
        reported = context.reported.get(source.path, frozenset())
        for call in source.nodes(ast.Call):
            send = sent_by(call)
            if send and call.lineno not in reported:
                yield from (f for f in _of_send(source, send) if f.line not in reported)


def _of_another_server(names: set[str], facts: engine.Engine) -> bool:
    """A body that asks for something neither engine knows, without sampling parameters: `/generate` is a common name."""
    known = facts.request_fields | set(facts.old_request)
    return "sampling_params" not in names and not names <= known


def sent_by(call: ast.Call) -> Send | None:
    """The URL and the body of a call that posts something."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name not in SENDERS:
        return None
    args = [a for a in call.args if not (isinstance(a, ast.Constant) and a.value in ("POST", "post"))]
    keywords = {k.arg: k.value for k in call.keywords}
    url = keywords.get("url") or (args[0] if args else None)
    body = keywords.get("json") or keywords.get("payload") or (args[1] if len(args) > 1 else None)
    return Send(url, body) if url is not None and body is not None else None


def _of_send(source: Source, send: Send) -> Iterator[Finding]:
    facts = engine.load()
    keys = list(literal_keys(source, send.body))
    names = {key for key, _, _ in keys}
    if _is_built(source, send.body) or not names:
        return
    route = route_of(source, send.url)
    native = route in facts.token_routes
    if not native and not (route == "/generate" or ("sampling_params" in names and names & set(facts.old_request))):
        return
    if route.endswith("abort_requests") or (not native and _of_another_server(names, facts)):
        return
    for key, value, line in keys:
        if key == "sampling_params":
            yield from _of_sampling(source, value, line, native)
        elif key in facts.old_request or (native and key not in facts.request_fields):
            yield _finding(source, line, key, facts.old_request.get(key, ""), "the request")


def _of_sampling(source: Source, value: ast.expr | None, line: int, native: bool) -> Iterator[Finding]:
    facts = engine.load()
    if value is None or _is_built(source, value):
        return
    keys = list(literal_keys(source, value))
    for key, _, at in keys:
        if key in facts.old_sampling or (native and key not in facts.sampling_fields):
            yield _finding(source, at, key, facts.old_sampling.get(key, ""), "sampling_params")
    if isinstance(value, ast.Name) and not values_of(source, value) and _is_parameter(source, value):
        message = f"the caller's `{value.id}` has upstream's keys and is sent without conversion"
        yield Finding(source.path, line, "payloads.unconverted", message, "build the request with the seam")


def _finding(source: Source, line: int, key: str, instead: str, where: str) -> Finding:
    fix = f"send {instead}" if instead else "it has no counterpart: leave it out"
    return Finding(source.path, line, "payloads.key", f"vLLM ignores the key `{key}` of {where}", fix)


def _is_built(source: Source, body: ast.expr) -> bool:
    """Whether a function made the body: the seam's builder, or one that the fork has for it."""
    if isinstance(body, ast.Await):
        return True
    if isinstance(body, ast.Call):
        return not (isinstance(body.func, ast.Name) and body.func.id == "dict")
    return isinstance(body, ast.Name) and any(_is_built(source, v) for v in values_of(source, body))


def _is_parameter(source: Source, name: ast.Name) -> bool:
    scope = scope_of(source, name)
    return any(isinstance(b.node, ast.arg) for b in source.bindings(scope).get(name.id, ()))
