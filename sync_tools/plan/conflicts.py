"""Conflicts of a port that lie on lines of a change which the fork lacks."""

from collections.abc import Iterable, Iterator

from sync_tools.ledger.view import FileView
from sync_tools.outcome import FileOutcome
from sync_tools.plan.model import Prerequisite


def causes(outcome: FileOutcome, prerequisites: Iterable[Prerequisite]) -> tuple[Prerequisite, ...]:
    """The changes, not known to be in the fork, whose lines the conflicts of a file lie on or beside."""
    if not outcome.merged or not outcome.merged.conflicts or outcome.change.before is None:
        return ()
    view = FileView(outcome)
    spans = [c.base for c in outcome.merged.conflicts]
    return tuple(
        each
        for each in prerequisites
        if each.state != "landed"
        and each.through is None
        and any(_meets(view, line, spans) for line in _lines(each, outcome.change.before.path))
    )


def _lines(needed: Prerequisite, path: str) -> Iterator[int]:
    for need in needed.needs:
        if need.place.path == path:
            yield from (line - 1 for line in need.place.lines)


def _meets(view: FileView, line: int, spans: Iterable[tuple[int, int]]) -> bool:
    """Whether a line of upstream's lies in a conflict of the translated file, or directly beside one."""
    if line >= len(view.old.source):
        return False
    image = view.old.image_of(range(line, line + 1))
    return any(image.start <= stop and start <= image.stop for start, stop in spans)
