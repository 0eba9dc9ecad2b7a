"""The partition of an upstream change into units, the pieces that one ledger entry each accounts for."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise

from sync_tools.ledger.align import common
from sync_tools.ledger.lines import split, unit_digest, unit_id
from sync_tools.ledger.symbols import Label, labels
from sync_tools.modes import GITLINK, SYMLINK
from sync_tools.upstream.changeset import FileChange, Hunk, Image

NO_LINES = Hunk(0, 0, 0, 0)


@dataclass(frozen=True)
class Marks:
    """Lines (0-based) of the images before and after that have an operation of their own, around which units are cut."""

    old: Mapping[int, str] = field(default_factory=dict)
    new: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Unit:
    """`hunk` holds its ranges; a file-wide unit has no lines and speaks of the `facts` of the file (rename, mode ..).

    Units of a file do not overlap, none spans two hunks of the diff, and together they hold all its lines.
    """

    id: str
    old_path: str | None
    new_path: str | None
    symbol: str
    hunk: Hunk
    digest: str
    mark: str | None = None
    facts: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        return self.new_path or self.old_path or ""

    @property
    def whole(self) -> bool:
        return not (self.hunk.old_count or self.hunk.new_count)


def partition(change: FileChange, commit: str, marks: Marks | None = None) -> tuple[Unit, ...]:
    """The units of a file: a file-wide one where there are facts or no lines, then those of the lines in order."""
    marks = marks or Marks()
    old_path = change.before.path if change.before else None
    new_path = change.after.path if change.after else None
    old, new = _Side.of(change.before, marks.old), _Side.of(change.after, marks.new)
    stated = facts(change)
    pieces = [(piece, label, mark) for hunk in change.hunks for piece, label, mark in _cut(hunk, old, new)]
    if stated or not pieces:
        pieces.insert(0, (NO_LINES, ("", 0), None))
    seen: Counter[str] = Counter()
    units = []
    for piece, (symbol, _), mark in pieces:
        content = unit_digest([old.lines[i] for i in piece.old], [new.lines[i] for i in piece.new])
        ident = unit_id(commit, old_path or "", new_path or "", content, seen[content])
        seen[content] += 1
        about = stated if not (piece.old_count or piece.new_count) else ()
        units.append(Unit(ident, old_path, new_path, symbol, piece, content, mark, about))
    return tuple(units)


def facts(change: FileChange) -> tuple[str, ...]:
    """What a change does beside its lines, in words."""
    before, after = change.before, change.after
    out = []
    if change.kind == "renamed" and before and after:
        out.append(f"renamed, {change.similarity}% alike")
    if before and after and before.mode != after.mode:
        out.append(f"mode {before.mode:o} -> {after.mode:o}")
    modes = {image.mode for image in (before, after) if image}
    out += ["symlink"] * (SYMLINK in modes) + ["submodule"] * (GITLINK in modes) + ["binary"] * change.binary
    if not change.hunks and not change.binary and all(not i.data for i in (before, after) if i):
        out.append("empty")
    return tuple(out)


@dataclass(frozen=True)
class _Side:
    """One image of a file: lines, and what they are cut by."""

    lines: Sequence[bytes] = ()
    labels: Sequence[Label] = ()
    marks: Mapping[int, str] = field(default_factory=dict)

    @staticmethod
    def of(image: Image | None, marks: Mapping[int, str]) -> "_Side":
        if image is None:
            return _Side()
        return _Side(split(image.data), labels(image.path, image.data), marks)

    def runs(self, lines: range) -> list[tuple["_Key", range]]:
        """The range cut where definition or mark changes; blank lines never make a run of their own."""
        keys = _absorb([(self.labels[i], self.marks.get(i)) for i in lines], [not self.lines[i].strip() for i in lines])
        out, at = [], lines.start
        for key, group in groupby(keys):
            size = sum(1 for _ in group)
            out.append((key, range(at, at + size)))
            at += size
        return out


_Key = tuple[Label, str | None]


def _absorb(keys: list[_Key], blank: list[bool]) -> list[_Key]:
    """A run of nothing but blank lines joins the run before it, else the one after it, unless it is marked apart."""
    runs = [(key, [i for _, i in group]) for key, group in groupby(zip(keys, range(len(keys))), key=lambda x: x[0])]
    for n, (key, where) in enumerate(runs):
        if all(blank[i] for i in where):
            near = [r for r in (runs[n - 1 : n] + runs[n + 1 : n + 2]) if r[0][1] == key[1]]
            runs[n] = (near[0][0] if near else key, where)
    return [key for key, where in runs for _ in where]


def _cut(hunk: Hunk, old: _Side, new: _Side) -> Iterable[tuple[Hunk, Label, str | None]]:
    """The pieces of a hunk: runs of one definition and one mark, paired between the sides where they agree."""
    olds, news = old.runs(hunk.old), new.runs(hunk.new)
    pairs = common([key for key, _ in olds], [key for key, _ in news])
    at_old, at_new = hunk.old.start, hunk.new.start
    for (i0, j0), (i1, j1) in pairwise([(-1, -1), *pairs, (len(olds), len(news))]):
        for key, lines in olds[i0 + 1 : i1]:
            yield Hunk.of(lines, range(at_new, at_new)), *key
            at_old = lines.stop
        for key, lines in news[j0 + 1 : j1]:
            yield Hunk.of(range(at_old, at_old), lines), *key
            at_new = lines.stop
        if i1 < len(olds):
            yield Hunk.of(olds[i1][1], news[j1][1]), *news[j1][0]
            at_old, at_new = olds[i1][1].stop, news[j1][1].stop
