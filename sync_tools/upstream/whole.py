"""The files of a window: what became of each between the cutoff and the tip, with every change in between."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sync_tools.modes import GITLINK, SYMLINK
from sync_tools.upstream.changeset import ChangeSet, FileChange, FileKind, Hunk, Image
from sync_tools.upstream.course import Step, back, threads

KIND_BITS = 0o170000


@dataclass(frozen=True)
class Part:
    """One change of the file: the `file`-th of the window's `landing`-th change set."""

    landing: int
    file: int
    change: FileChange
    step: Step


@dataclass(frozen=True)
class Course:
    """One file through a window. `whole` is its change over the window. `begins` is the part with which that change
    begins: the parts before it speak of a file that was deleted, and that the fork did not have either. `born`: the
    window adds the file; `merges` says that all the same the fork has one in its place, so that `whole` begins after
    the addition; `passes` that it comes and goes within the window, and that the fork has none in its place."""

    parts: tuple[Part, ...]
    whole: FileChange
    begins: int = 0
    born: bool = False
    merges: bool = False
    passes: bool = False

    def before(self, n: int) -> tuple[Step, ...]:
        """The steps from the file before `whole` to the file before part n."""
        return tuple(p.step for p in self.parts[self.begins + self.merges : n])

    def after(self, n: int) -> tuple[Step, ...]:
        """The steps that follow part n."""
        return tuple(p.step for p in self.parts[n + 1 :])


def courses(
    changes: Sequence[ChangeSet],
    step: Callable[[ChangeSet, FileChange], Step],
    has: Callable[[Image, frozenset[str]], bool],
) -> list[Course]:
    """Every file that the changes, oldest first, touch. `has(image, others)` says whether the fork has a file in the
    place of an image of upstream's that is none of the paths `others`, where other files stood at the cutoff."""
    found = [
        tuple(Part(n, i, c := changes[n].files[i], step(changes[n], c)) for n, i in thread)
        for thread in threads([[_paths(f) for f in each.files] for each in changes])
    ]
    others = frozenset(parts[0].change.before.path for parts in found if parts[0].change.before)
    return sorted(
        (_course(parts, has, others) for parts in found), key=lambda c: (c.whole.after is not None, c.whole.path)
    )


def vacated(found: Iterable[Course]) -> frozenset[str]:
    """Upstream's paths whose files the window moves away or deletes, so that another file may come there."""
    left = (_left([part.change for part in c.parts]) for c in found if not c.born)
    return frozenset(path for path in left if path)


def _paths(change: FileChange) -> tuple[str | None, str | None]:
    return change.before and change.before.path, change.after and change.after.path


def _left(changes: Sequence[FileChange]) -> str | None:
    """The path at which a file stood before its changes, where it does not stand after them."""
    first, last = changes[0].before, changes[-1].after
    return first.path if first and (last is None or last.path != first.path) else None


def _course(parts: tuple[Part, ...], has: Callable[[Image, frozenset[str]], bool], others: frozenset[str]) -> Course:
    first, last = parts[0].change.before, parts[-1].change.after
    begins = 0
    if first and last and not has(first, others - {first.path}):
        begins = max((n for n, p in enumerate(parts) if p.change.before is None), default=0)
        first = parts[begins].change.before
    born = first is None
    birth = parts[begins].change.after
    merges = passes = False
    if born and last is None:
        first = parts[-1].change.before
        passes = first is not None and not has(first, others)
    elif born and birth != last and birth is not None and has(birth, others):
        first, merges = birth, True
    steps = [p.step for p in parts[begins + merges :]]
    opaque = any(p.change.binary for p in parts) or any(i and i.mode in (SYMLINK, GITLINK) for i in (first, last))
    hunks = () if opaque else tuple(_hunks(first, last, steps))
    whole = FileChange(_kind(first, last), first, last, 0, any(p.change.binary for p in parts), hunks)
    return Course(parts, whole, begins, born, merges, passes)


def _kind(before: Image | None, after: Image | None) -> FileKind:
    if before is None:
        return "added"
    if after is None:
        return "deleted"
    if before.mode & KIND_BITS != after.mode & KIND_BITS:
        return "type"
    if before.path != after.path:
        return "renamed"
    return "mode" if before.data == after.data and before.mode != after.mode else "modified"


def _hunks(before: Image | None, after: Image | None, steps: Sequence[Step]) -> list[Hunk]:
    """What lies between the lines of the file after that come from the file before."""
    olds, news = _count(before), _count(after)
    kept = [(found[0], i) for i in range(news) if before and (found := back(range(i, i + 1), steps))]
    edges = [(-1, -1), *kept, (olds, news)]
    return [
        Hunk.of(range(a0 + 1, a1), range(b0 + 1, b1))
        for (a0, b0), (a1, b1) in pairwise(edges)
        if a1 - a0 > 1 or b1 - b0 > 1
    ]


def _count(image: Image | None) -> int:
    """The lines of a file as git counts them."""
    return image.data.count(b"\n") + bool(image.data and not image.data.endswith(b"\n")) if image else 0
