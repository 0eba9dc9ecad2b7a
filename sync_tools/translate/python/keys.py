"""Write the keys of requests and sampling parameters in vLLM's words, where nothing else reads them."""

import ast

from sync_tools.translate.python.draft import Draft
from sync_tools.translate.python.heap import Heap, KeyUse
from sync_tools.translate.python.rules import Key, Rules


def rename(draft: Draft, heap: Heap, rules: Rules, forced: bool = False) -> None:
    """Rename in every group of dicts that goes to the engine and nowhere else.

    What stays in upstream's words is read by the seam all the same.
    """
    for members in heap.groups().values():
        sites = [heap.sites[member] for member in members]
        roles = set().union(*(site.roles for site in sites))
        if len(roles) != 1 or any(site.leaves or site.dynamic or site.early for site in sites):
            continue
        table = rules.request if roles == {"request"} else rules.sampling
        uses = {use for member in members for use in heap.uses.get(member, ())}
        outside = any(site.outside for site in sites)
        present = {key for site in sites for key in site.fields}
        for old, key in table.items():
            if key.new is not None and key.new not in present and _may(key, [u for u in uses if u.key == old], outside):
                for use in uses:
                    if use.key == old:
                        _rename_one(draft, use, key)


def _may(key: Key, uses: list[KeyUse], outside: bool) -> bool:
    if not all(use.alone for use in uses):
        return False
    return not outside or not (key.shared or any(use.use != "write" for use in uses))


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
