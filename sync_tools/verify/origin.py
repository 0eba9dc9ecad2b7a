"""Which findings the port introduced, and which stood in the fork, or in upstream itself, before."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Literal

from sync_tools.tree import Blob, Overlay
from sync_tools.verify.model import Context, Finding

Function = Callable[[Context], Iterable[Finding]]
# What of upstream's own can have the fault: nothing (what translation answers for), a file by itself, its tree, or a file
# that names what the change removed.
Reference = Literal["none", "file", "tree", "mention"]


def with_origin(context: Context, check: Function, found: list[Finding], reference: Reference) -> tuple[Finding, ...]:
    """The findings, sorted, with their origin.

    A finding is inherited when the same rule fires on the same line (its text, spaces aside) of the same file in the fork
    before the port, of a file that the port removed, or of translated upstream. Each line there answers for one finding.
    """
    if not found:
        return ()
    known, moved = _before(context, check, {f.path for f in found})
    known |= _of_upstream(context, check, {f.path for f in found}, reference)
    judged = []
    for finding in sorted(found):
        path, *rest = _place(context, finding)
        answers = (known, (path, *rest)), (moved, tuple(rest))
        answer = next(((counter, place) for counter, place in answers if counter[place] > 0), None)
        if answer:
            answer[0][answer[1]] -= 1
        judged.append(replace(finding, origin="inherited" if answer else "introduced"))
    return tuple(judged)


def _before(context: Context, check: Function, paths: set[str]) -> tuple[Counter, Counter]:
    """What the check finds in the fork before the port: in these files, and in the files that are gone since."""
    gone = (context.touched & context.base.paths()) - context.tree.paths()
    before = replace(context, tree=context.base, touched=frozenset(paths | gone), reported={})
    known, moved = Counter(), Counter()
    for path, rule, line in _places(before, check):
        if path in gone:
            moved[rule, line] += 1
        else:
            known[path, rule, line] += 1
    return known, moved


def _of_upstream(context: Context, check: Function, paths: set[str], reference: Reference) -> Counter:
    """What the check finds in these files as upstream has them."""
    theirs = context.upstream_tree
    if reference == "none" or (reference == "tree" and theirs is None):
        return Counter()
    files: dict[str, Blob | None] = {p: theirs.blob(p) for p in paths} if theirs and reference != "file" else {}
    files |= {p: Blob(data) for p, data in context.upstream.items() if p in paths}
    known = frozenset(p for p, blob in files.items() if blob is not None)
    tree = Overlay(context.tree, {p: files[p] for p in known})
    match reference:
        case "file":
            seen = replace(context, tree=tree, touched=known, reported={})
        case "mention":
            seen = replace(context, tree=tree, reported={})
        case _:
            seen = replace(context, tree=theirs, base=theirs, touched=known, reported={})
    return Counter(place for place in _places(seen, check) if place[0] in known)


def _places(context: Context, check: Function) -> Iterator[tuple[str, str, str]]:
    for finding in check(context):
        yield _place(context, finding)


def _place(context: Context, finding: Finding) -> tuple[str, str, str]:
    source = context.code.source(finding.path)
    line = " ".join(source.line(finding.line).split()) if source else ""
    return finding.path, finding.rule, line
