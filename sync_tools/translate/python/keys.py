"""Write the keys of requests and sampling parameters in vLLM's words, where nothing else reads them."""

import ast
from dataclasses import dataclass

from sync_tools.translate.python.draft import Draft
from sync_tools.translate.python.heap import Heap, KeyUse
from sync_tools.translate.python.lattice import Value, alone, dicts
from sync_tools.translate.python.rules import Key, Rules


@dataclass(frozen=True)
class Kept:
    """The keys of requests and of sampling parameters that may reach the engine in upstream's words."""

    request: dict[str, str]
    sampling: dict[str, str]


def rename(draft: Draft, heap: Heap, rules: Rules, requests: list[Value]) -> Kept:
    """Rename in every group of dicts that goes to the engine and nowhere else.

    What may stay in upstream's words is given back: keys that were not renamed, all where a dict is made elsewhere.
    """
    sampling = [heap.read(site, "sampling_params") for body in requests for site in dicts(body)]
    unseen = not all(alone(body) for body in requests)
    kept = Kept(
        _all(rules.request) if unseen else {},
        _all(rules.sampling) if unseen or not all(alone(params) for params in sampling) else {},
    )
    for members in heap.groups().values():
        sites = [heap.sites[member] for member in members]
        roles = set().union(*(site.roles for site in sites))
        if not roles:
            continue
        table = rules.request if roles == {"request"} else rules.sampling
        left = kept.request if roles == {"request"} else kept.sampling
        uses = {use for member in members for use in heap.uses.get(member, ())}
        outside = any(site.outside for site in sites)
        computed = any(site.dynamic for site in sites)
        closed = len(roles) == 1 and not any(site.leaves or site.dynamic or site.early for site in sites)
        present = {key for site in sites for key in site.fields}
        for old, key in table.items():
            if key.new is None:
                continue
            of_key = [use for use in uses if use.key == old]
            if closed and key.new not in present and of_key and _may(draft, key, of_key, outside):
                for use in of_key:
                    _rename_one(draft, use, key)
            elif of_key or outside or computed:
                left[old] = key.new
    return kept


def _all(table: dict[str, Key]) -> dict[str, str]:
    return {old: key.new for old, key in table.items() if key.new is not None}


def _may(draft: Draft, key: Key, uses: list[KeyUse], outside: bool) -> bool:
    """Whether every use of the key can be rewritten, and none may mean what was written elsewhere."""
    if not all(use.alone and _is_written_out(draft, use) for use in uses):
        return False
    return not outside or not (key.shared or any(use.use != "write" for use in uses))


def _is_written_out(draft: Draft, use: KeyUse) -> bool:
    node = draft.source.nodes[use.node]
    return isinstance(node, ast.keyword) or (isinstance(node, ast.Constant) and use.key in draft.source.segment(node))


def _rename_one(draft: Draft, use: KeyUse, key: Key) -> None:
    node = draft.source.nodes[use.node]
    start, end = draft.source.span(node)
    if isinstance(node, ast.keyword):
        draft.edits.replace((start, start + len(key.old)), str(key.new))
        draft.applied(key.rule, start, key.old, str(key.new))
    elif isinstance(node, ast.Constant):
        written = draft.source.segment(node)
        renamed = written.replace(key.old, str(key.new))
        if renamed != written:
            draft.edits.replace((start, end), renamed)
            draft.applied(key.rule, start, written, renamed)
