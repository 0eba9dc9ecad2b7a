"""Which entries of a change a later one undoes, and which ones a still later one brings back: told from upstream's text."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from sync_tools.ledger.align import align
from sync_tools.ledger.lines import normal, split
from sync_tools.ledger.model import Entry
from sync_tools.upstream.changeset import ChangeSet, FileChange, Image

WORD = re.compile(rb"\w")


def taken_back(entries: Iterable[Entry], its: ChangeSet, later: ChangeSet) -> Iterator[Entry]:
    """The entries of `its` change whose lines the later one takes away; of those that only remove, the ones whose lines it
    puts back; of those without lines (a rename, a mode), the ones whose file it touches."""
    for e in entries:
        mine, other = _file(its, e.upstream.name), None
        if mine is not None:
            other = next((f for f in later.files if _path(f.before) == mine.path), None) or _again(later, mine)
        if mine is not None and other is not None and _undoes(e, mine, other):
            yield e


def brought_back(entries: Iterable[Entry], its: ChangeSet, later: ChangeSet) -> Iterator[Entry]:
    """The entries of `its` change, undone since, whose lines the later one adds (or takes away) once more."""
    for e in entries:
        mine = _file(its, e.upstream.name)
        other = next((f for f in later.files if mine is not None and f.path == mine.path), None)
        if mine is not None and other is not None and _redoes(e, mine, other):
            yield e


def _file(changes: ChangeSet, path: str) -> FileChange | None:
    return next(
        (f for f in changes.files if f.path.encode("utf-8", "replace").decode() == path or f.path == path), None
    )


def _path(image: Image | None) -> str | None:
    return image.path if image else None


def _again(later: ChangeSet, mine: FileChange) -> FileChange | None:
    """The file that the later change adds in the place of one that this one deleted."""
    return next((f for f in later.files if mine.after is None and f.path == mine.path), None)


def _undoes(e: Entry, mine: FileChange, other: FileChange) -> bool:
    if not e.added and not e.removed:
        return True
    if e.added:
        traced = _traced(e, mine, other.before)
        gone = {i for h in other.hunks for i in h.old}
        return bool(traced) and traced <= gone
    return _among(_lines(mine.before), e.upstream.old.lines, _lines(other.after), [h.new for h in other.hunks])


def _redoes(e: Entry, mine: FileChange, other: FileChange) -> bool:
    if not e.added and not e.removed:
        return True
    if e.added:
        traced = _traced(e, mine, other.after)
        return bool(traced & {i for h in other.hunks for i in h.new})
    return _among(_lines(mine.before), e.upstream.old.lines, _lines(other.before), [h.old for h in other.hunks])


def _traced(e: Entry, mine: FileChange, image: Image | None) -> set[int]:
    """Where the lines that an entry adds stand in another image of the file; brackets and blanks say little, and count
    only where there is nothing else."""
    lines, there = _lines(mine.after), _lines(image)
    found = align(lines, there)
    span = e.upstream.new.lines
    telling = [i for i in span if WORD.search(lines[i])] or list(span)
    return {found.low[i] for i in telling if found.same[i]}


def _among(lines: list[bytes], span: range, others: list[bytes], hunks: list[range]) -> bool:
    """Whether the lines of a span all stand among those of the hunks."""
    told = Counter(lines[i] for i in span if lines[i])
    return told <= Counter(others[i] for hunk in hunks for i in hunk)


def _lines(image: Image | None) -> list[bytes]:
    return [normal(line) for line in split(image.data)] if image else []
