"""No literal route of SGLang's is asked of a vLLM engine or router.

A route that the file or its folder serves itself (our Megatron server's `/generate`, a fake in a test) is not the engine's.
"""

import ast
import re
from collections.abc import Iterator

from sync_tools.verify import engine
from sync_tools.verify.model import Context, Finding
from sync_tools.verify.source import MARKDOWN, SHELL, Source

SERVED_BY = frozenset({"add_post", "add_get", "add_route", "add_api_route", "api_route", "route", "get", "post"})
TEXTS = SHELL | MARKDOWN | {".yml", ".yaml", ".j2"}


def endpoints(context: Context) -> Iterator[Finding]:
    old = engine.load().old_routes
    in_text = re.compile(rf"(?:https?://[^/\s]+|\$\{{?\w+\}}?)({'|'.join(map(re.escape, old))})(?![\w/])")
    for source in context.files():
        reported = context.reported.get(source.path, frozenset())
        if source.module is not None:
            found = _in_python(context, source)
        elif source.suffix in TEXTS:
            found = [(n, m[1]) for n, line in enumerate(source.lines, 1) for m in in_text.finditer(line)]
        else:
            continue
        for line, route in sorted(set(found)):
            if line not in reported:
                fix = f"use {old[route]}" if old[route] else "vLLM has no counterpart: leave the call out"
                yield Finding(source.path, line, "endpoints.route", f"no vLLM server answers `{route}`", fix)


def _in_python(context: Context, source: Source) -> list[tuple[int, str]]:
    old = engine.load().old_routes
    if not any(route.rsplit("/", 1)[1] in source.words for route in old):
        return []
    found = [(c.lineno, route) for c in source.nodes(ast.Constant) if (route := _route(source, c)) in old]
    return [(line, route) for line, route in found if not _is_served(context, source.path, route)]


def _route(source: Source, constant: ast.Constant) -> str:
    """The route that a string constant asks for; empty where it stands for something else."""
    if not isinstance(constant.value, str):
        return ""
    parent = source.parent(constant)
    if isinstance(parent, ast.JoinedStr):
        after_value = parent.values.index(constant) > 0
        pattern = r"(/[\w/]+)" if after_value else r"https?://[^/\s]+(/[\w/]+)"
        return m[1] if (m := re.match(pattern, constant.value)) else ""
    if isinstance(parent, ast.Expr | ast.Compare) or _serves(source, parent):
        return ""
    m = re.fullmatch(r"(?:https?://[^/\s]+)?(/[\w/]+)(?:\?.*)?", constant.value)
    return m[1] if m else _bare(constant, parent)


def _bare(constant: ast.Constant, parent: ast.AST | None) -> str:
    """`make_request("flush_cache")`: a route without its slash, as the first argument of a function that asks."""
    if isinstance(parent, ast.Call) and parent.args and parent.args[0] is constant:
        name = parent.func.attr if isinstance(parent.func, ast.Attribute) else getattr(parent.func, "id", "")
        return f"/{constant.value}" if "request" in name else ""
    return ""


def _serves(source: Source, call: ast.AST | None) -> bool:
    """Whether a call registers a route: `app.router.add_post(..)`, or `@app.post(..)` as a decorator."""
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in SERVED_BY):
        return False
    decorated = source.parent(call)
    return call.func.attr not in ("get", "post") or call in getattr(decorated, "decorator_list", ())


def _is_served(context: Context, path: str, route: str) -> bool:
    """Whether a file of the same folder registers the route."""
    folder = path.rpartition("/")[0]
    paths = (p for p in context.code.paths if p.endswith(".py") and p.rpartition("/")[0] == folder)
    near = (s for s in map(context.code.source, paths) if s and route in s.text)
    calls = (call for source in near for call in source.nodes(ast.Call) if _serves(source, call))
    return any(isinstance(arg, ast.Constant) and arg.value == route for call in calls for arg in call.args)
