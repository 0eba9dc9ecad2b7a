"""Which findings the port introduced, and which stood in the fork, or in upstream itself, before."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from sync_tools.tree import Blob, Overlay
from sync_tools.verify.model import Context, Finding

Function = Callable[[Context], Iterable[Finding]]


def with_origin(context: Context, check: Function, found: list[Finding], upstream: bool) -> tuple[Finding, ...]:
    """The findings, sorted, with their origin.

    A finding is inherited when the same rule fires on the same line (its text, spaces aside) of the same file in the fork
    before the port, of a file that the port removed, or, where `upstream` says that upstream can have the fault itself,
    of the translated upstream image. Each line there answers for one finding.
    """
    if not found:
        return ()
    known, moved = _known(context, check, {f.path for f in found}, upstream)
    judged = []
    for finding in sorted(found):
        place = (finding.path, finding.rule, _line(context, finding))
        if known[place] > 0:
            known[place] -= 1
            judged.append(replace(finding, origin="inherited"))
        elif moved[place[1:]] > 0:
            moved[place[1:]] -= 1
            judged.append(replace(finding, origin="inherited"))
        else:
            judged.append(finding)
    return tuple(judged)


def _known(context: Context, check: Function, paths: set[str], upstream: bool) -> tuple[Counter, Counter]:
    gone = (context.touched & context.base.paths()) - context.tree.paths()
    before = replace(context, tree=context.base, touched=frozenset(paths | gone), reported={})
    known, moved = Counter(), Counter()
    for path, rule, line in _places(before, check):
        if path in gone:
            moved[rule, line] += 1
        else:
            known[path, rule, line] += 1
    if upstream:
        images = {p: Blob(data) for p, data in context.upstream.items() if p in paths}
        tree = Overlay(context.tree, images)
        known |= Counter(_places(replace(context, tree=tree, touched=frozenset(images), reported={}), check))
    return known, moved


def _places(context: Context, check: Function) -> Iterator[tuple[str, str, str]]:
    for finding in check(context):
        yield finding.path, finding.rule, _line(context, finding)


def _line(context: Context, finding: Finding) -> str:
    source = context.code.source(finding.path)
    return " ".join(source.line(finding.line).split()) if source else ""
