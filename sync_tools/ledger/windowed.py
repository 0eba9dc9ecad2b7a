"""The outcomes of a window that was ported at once, found again from the fork around it and upstream's changes."""

from collections.abc import Sequence
from dataclasses import replace

from sync_tools.ledger.account import storable
from sync_tools.ledger.landing import Landing, Rules, outcome, translated
from sync_tools.ledger.model import Entry
from sync_tools.ledger.translated import Translated
from sync_tools.ledger.units import facts
from sync_tools.ledger.view import FileView, Passage
from sync_tools.outcome import FileOutcome
from sync_tools.tree import Blob
from sync_tools.upstream.changeset import ChangeSet, FileChange, Image
from sync_tools.upstream.course import Step
from sync_tools.upstream.whole import Course, courses, vacated

Seen = tuple[tuple[FileOutcome, ...], tuple[Passage | None, ...]]


def windowed(landings: Sequence[Landing], changes: Sequence[ChangeSet], rules: Rules) -> list[Seen]:
    """Of each landing, oldest first, what became of its files, and their passages through the window."""
    return _Window(landings, changes, rules).seen()


class _Window:
    def __init__(self, landings: Sequence[Landing], changes: Sequence[ChangeSet], rules: Rules) -> None:
        self._landings, self._changes, self._rules = landings, changes, rules
        self._told = [_by_path(each) for each in landings]
        self._images: dict[tuple[str, str, bytes], Translated] = {}

    def seen(self) -> list[Seen]:
        found = courses(self._changes, self._step, self._has)
        left = frozenset(map(self._rules.place, vacated(found)))
        of: dict[tuple[int, int], tuple[FileOutcome, Passage | None]] = {}
        for course in found:
            whole = FileView(self._whole(course, left))
            of |= {(p.landing, p.file): self._part(course, n, whole) for n, p in enumerate(course.parts)}
        rows = [[of[n, i] for i in range(len(each.files))] for n, each in enumerate(self._changes)]
        return [(tuple(o for o, _ in row), tuple(p for _, p in row)) for row in rows]

    def _step(self, changes: ChangeSet, change: FileChange) -> Step:
        ref = next(x.ledger.upstream.ref for x in self._landings if x.ledger.upstream.commit == changes.commit)
        return Step.of(ref, change, facts(change))

    def _has(self, image: Image, left: frozenset[str]) -> bool:
        before = self._landings[0].before
        return image.path not in left and before is not None and before.blob(self._rules.place(image.path)) is not None

    def _whole(self, course: Course, left: frozenset[str]) -> FileOutcome:
        """The file over the window. It stands where the ledger of its last change says."""
        last, first = course.parts[-1], self._landings[0]
        told = self._told[last.landing].get(storable(last.change.path), ())
        found = outcome(course.whole, told, first, self._rules)
        ours = self._ours(found.path, course, left)
        before, after = (translated(course.whole, i, self._rules) for i in (course.whole.before, course.whole.after))
        final = None if course.passes else found.final
        return replace(found, ours=ours, final=final, before=before, after=after)

    def _ours(self, path: str, course: Course, left: frozenset[str]) -> Blob | None:
        if course.passes:
            return None
        before, origin = self._landings[0].before, course.whole.before
        own = self._rules.place(origin.path) if origin and not course.born else None
        if before is None:
            return self._landings[0].written.blob(path) if own else None
        places = [p for p in (path, own) if p and (p == own or p not in left)]
        return next((blob for p in places if (blob := before.blob(p))), None)

    def _part(self, course: Course, n: int, whole: FileView) -> tuple[FileOutcome, Passage | None]:
        part, end = course.parts[n], whole.outcome
        told = self._told[part.landing].get(storable(part.change.path), ())
        found = outcome(part.change, told, self._landings[part.landing], self._rules)
        passage = Passage(whole, course.before(n), course.after(n))
        if n < course.begins or (end.ours is None and found.disposition in ("absent", "present") and not course.born):
            return found, replace(passage, whole=FileView(found))
        if found.disposition in ("dropped", "owned", "generated"):
            return found, passage
        added = course.born and n == course.begins and end.ours is not None
        before, after = (self._translated(end.path, part.change, i) for i in (part.change.before, part.change.after))
        found = replace(
            found,
            disposition="present" if added else "merged",
            before=before.translation if before else None,
            after=after.translation if after else None,
            ours=end.ours,
            final=end.final,
        )
        return found, replace(passage, old=before, new=after)

    def _translated(self, path: str, change: FileChange, image: Image | None) -> Translated | None:
        if image is None:
            return None
        key = (path, image.path, image.data)
        if key not in self._images:
            self._images[key] = Translated(path, image, translated(change, image, self._rules))
        return self._images[key]


def _by_path(landing: Landing) -> dict[str, list[Entry]]:
    told: dict[str, list[Entry]] = {}
    for e in landing.ledger.entries:
        told.setdefault(e.upstream.name, []).append(e)
    return told
