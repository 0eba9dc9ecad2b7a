"""Which route an address leads to, and whether a body is a generate request."""

import ast
import re
from typing import TYPE_CHECKING

from sync_tools.translate.python.lattice import Opaque, Piece, Text, Thing, Value, dicts
from sync_tools.translate.python.rules import Endpoint, Rules
from sync_tools.translate.python.source import Source
from sync_tools.translate.python.text import one_constant, texts

if TYPE_CHECKING:
    from sync_tools.translate.python.interpret import Analysis

__all__ = [
    "GENERATE",
    "Match",
    "is_foreign_body",
    "is_opaque",
    "looks_like_request",
    "matches",
    "one_constant",
    "texts",
    "worth_following",
]

GENERATE = "/generate"
_SLASHES = re.compile(r"//+")
_HOST = re.compile(r"^(?:\w+:)?//[^/]*|^[\w.-]*:\d+(?=/)|^\.[\w.-]+(?=/)")

Match = tuple[Endpoint, tuple[Piece, ...], str]
"""A route, the literal text that names it, the query behind it."""


def matches(rules: Rules, url: Value) -> list[Match]:
    """The routes of the upstream engine that the address may lead to."""
    found = []
    for text in texts(url):
        path, mark, query = text.tail.partition("?")
        path = _SLASHES.sub("/", _HOST.sub("", path))
        for endpoint in rules.endpoints:
            whole = path == endpoint.old
            if whole or (path and path == endpoint.old[1:] and not text.whole):
                found.append((endpoint, text.pieces, mark + query))
    return found


def worth_following(source: Source, rules: Rules) -> bool:
    """Whether the code itself, not its prose, names a route of the engine or makes a request."""
    routes = [endpoint.old for endpoint in rules.endpoints]
    for node in source.nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if node.value == "sampling_params":
                return True
            path = node.value.partition("?")[0]
            if any(path.endswith(old) or path == old[1:] for old in routes):
                return True
        elif (isinstance(node, ast.keyword) and node.arg == "sampling_params") or (
            isinstance(node, ast.Name | ast.alias)
            and "get_model_url"
            in (
                getattr(node, "id", ""),
                getattr(node, "name", ""),
            )
        ):
            return True
    return False


def is_opaque(url: Value) -> bool:
    """Whether nothing of the path is known: an option, an attribute, what another module made."""
    return bool(url) and any(
        isinstance(atom, Opaque)
        or (isinstance(atom, Thing) and atom.kind == "unknown")
        or (isinstance(atom, Text) and not _HOST.sub("", atom.tail).strip("/") and not atom.whole)
        for atom in url
    )


def looks_like_request(an: "Analysis", body: Value) -> bool:
    """Whether a body can be nothing but a generate request: a prompt, sampling parameters, one key that only the engine knows."""
    return any(_is_request(an, site) for site in dicts(body))


def _is_request(an: "Analysis", site: int) -> bool:
    keys = an.heap.sites[site].fields.keys()
    table = an.rules.request
    if "sampling_params" not in keys or not any(key in keys for key, row in table.items() if row.prompt):
        return False
    if not keys <= table.keys():
        return False
    if any(table[key].engine for key in keys):
        return True
    params = an.heap.sites[site].fields["sampling_params"]
    inside = {key for held in dicts(params) for key in an.heap.sites[held].fields}
    handed = any(isinstance(atom, Opaque) and atom.path.endswith("sampling_params") for atom in params)
    outside = any(an.heap.sites[held].outside for held in dicts(params))
    return handed or outside or any(key in inside and row.engine for key, row in an.rules.sampling.items())


def is_foreign_body(an: "Analysis", body: Value, url: Value) -> bool:
    """Whether every body is known to hold what the upstream engine's request lacks, at an address that is not the engine's."""
    sites = dicts(body)
    if not sites or any(text.engine for text in texts(url)):
        return False
    known = an.rules.request.keys()
    return all(
        not an.heap.sites[site].outside
        and bool(an.heap.sites[site].fields)
        and not an.heap.sites[site].fields.keys() <= known
        for site in sites
    )
