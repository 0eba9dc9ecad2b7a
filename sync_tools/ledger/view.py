"""One file of a port, seen line by line: upstream's images, their translations, and the fork's file before and after.

This is what both `account` and `check` judge by, so that a ledger says nothing that cannot be found again.
"""

from dataclasses import dataclass
from functools import cached_property

from sync_tools.ledger.align import Alignment
from sync_tools.ledger.bindings import Imports, Sides, merged
from sync_tools.ledger.follow import follow
from sync_tools.ledger.lines import normal, split
from sync_tools.ledger.symbols import IMPORTS, Label, is_public, labels
from sync_tools.ledger.translated import Translated
from sync_tools.ledger.units import Unit
from sync_tools.merge.compare import contained
from sync_tools.outcome import FileOutcome
from sync_tools.tree import Blob
from sync_tools.upstream.course import Fate, Step, back, forward, undone

MOST = 0.5


@dataclass(frozen=True)
class Stretch:
    """What a unit is about in the two images that the fork's file is held against: lines that go, lines that come, and
    the stretch that these cover."""

    removed: tuple[int, ...]
    added: tuple[int, ...]
    at: range
    imports: bool = False


@dataclass(frozen=True)
class Passage:
    """Where a change stands in a window that was ported at once: the file over the whole window, and what came before
    the change and after it. `old` and `new` are its images, which its neighbours share."""

    whole: "FileView"
    before: tuple[Step, ...]
    after: tuple[Step, ...]
    old: Translated | None = None
    new: Translated | None = None

    def later(self, unit: Unit) -> Fate:
        """What became of a unit's added lines up to the tip."""
        return forward(unit.hunk.new, self.after)

    def earlier(self, unit: Unit) -> tuple[int, ...]:
        """The lines of the cutoff's file that a unit removes."""
        return back(unit.hunk.old, self.before)

    def replaced(self, unit: Unit) -> str | None:
        """The later change that took away the last of what a unit brought, if nothing of it is left."""
        if unit.new_path is None:
            return None
        if unit.whole:
            return undone(unit.facts, self.after)
        fate = self.later(unit)
        return fate.by if unit.hunk.new_count and not fate.lines else None


@dataclass(frozen=True)
class FileView:
    """A file's outcome with its images and its standing in the fork, each derived once.

    A change of a window that was ported at once is seen through its `passage`: the fork's file is then held against the
    images at the window's ends, and of a unit what is left at its tip."""

    outcome: FileOutcome
    passage: Passage | None = None

    @property
    def whole(self) -> "FileView":
        """The view of what was merged: of the whole window, where the change is one of a window."""
        return self.passage.whole if self.passage else self

    def stretch(self, unit: Unit) -> Stretch:
        """A unit in the translated images that were merged."""
        imports = unit.symbol == IMPORTS
        if self.passage is None:
            removed, added = self.old.image_of(unit.hunk.old), self.new.image_of(unit.hunk.new)
            return Stretch(tuple(removed), tuple(added), added, imports)
        removed = self.whole.old.images_of(self.passage.earlier(unit))
        fate = self.passage.later(unit)
        added = self.whole.new.images_of(fate.lines)
        at = range(added[0], added[-1] + 1) if added else self.whole.new.image_of(range(fate.gap, fate.gap))
        return Stretch(removed, added, at, imports)

    def where(self, unit: Unit) -> range:
        """The lines of the fork's file that answer to a unit; where it only removes, the gap that is left."""
        return self.final.from_new.image(self.stretch(unit).at)

    def stands(self, unit: Unit) -> bool:
        """The fork's file stands as the unit wants it: what it adds is there, what it removes is gone."""
        return self.final.has(self.stretch(unit))

    @cached_property
    def old(self) -> Translated:
        if self.passage and self.passage.old:
            return self.passage.old
        path = self.outcome.old_path or self.outcome.path
        return Translated(path, self.outcome.change.before, self.outcome.before)

    @cached_property
    def new(self) -> Translated:
        if self.passage and self.passage.new:
            return self.passage.new
        return Translated(self.outcome.path, self.outcome.change.after, self.outcome.after)

    @cached_property
    def final(self) -> "Standing":
        return self.passage.whole.final if self.passage else Standing(self, self.outcome.final)

    @cached_property
    def ours(self) -> "Standing":
        return self.passage.whole.ours if self.passage else Standing(self, self.outcome.ours)

    @property
    def marked(self) -> bool:
        """The fork's file holds conflict markers, and between them lines of every side."""
        return self.outcome.merged is not None and bool(self.outcome.merged.conflicts)

    @cached_property
    def to_ours(self) -> Alignment:
        """The fork's file after the port, against that before it."""
        return follow(self.final, self.ours)

    def lacking(self, unit: Unit) -> str:
        """What a file that upstream adds and the fork has already lacks of a unit, in words; empty where it lacks nothing.

        Of Python that is a definition under a public name (a private one is nobody else's), of other text most lines.
        """
        if self.outcome.change.kind != "added" or self.outcome.ours is None:
            return ""
        theirs = [self.new.labels[i][0] for i in self.new.image_of(unit.hunk.new)]
        if any(is_public(name) for name, _ in self.new.labels):
            gone = dict.fromkeys(filter(None, (self._gone(name) for name in theirs)))
            return f"has no {', '.join(f'`{name}`' for name in gone)}" if gone else ""
        if not unit.whole and self._held < MOST:
            return f"holds {self._held:.0%} of its lines"
        return ""

    def _gone(self, name: str) -> str | None:
        """The outermost definition around a name that the fork's file lacks, if that is public."""
        parts = name.split(".")
        outer = (".".join(parts[:n]) for n in range(1, len(parts) + 1))
        first = next((o for o in outer if o not in self.ours.symbols), None)
        return first if first and is_public(first) else None

    @cached_property
    def _held(self) -> float:
        return contained(b"\n".join(self.ours.lines), b"\n".join(self.new.lines))

    def already(self, unit: Unit) -> bool:
        """The fork had it before the port: a unit stood there, with the same neighbours, in a file of its own edits."""
        outcome, stretch = self.whole.outcome, self.stretch(unit)
        before = outcome.before.data if outcome.before else None
        if outcome.ours is None or outcome.ours.data == before or not self.ours.has(stretch):
            return False
        if self.whole.says_same(stretch):
            return False  # only blanks at line ends differ, which no digest sees; or nothing of it is left
        where = self.where(unit)
        around = range(max(where.start - 1, 0), min(where.stop + 1, len(self.final.lines)))
        low, same = self.whole.to_ours.low, self.whole.to_ours.same
        return all(same[i] and low[i] - low[around.start] == i - around.start for i in around)

    def says_same(self, stretch: Stretch) -> bool:
        """The lines that go and those that come are the same, blank ones set aside."""
        gone, come = (self.old.lines[i] for i in stretch.removed), (self.new.lines[i] for i in stretch.added)
        return list(filter(None, gone)) == list(filter(None, come))


@dataclass(frozen=True)
class Standing:
    """A file of the fork against both translated images: which units stand in it, and where."""

    view: FileView
    blob: Blob | None

    @property
    def path(self) -> str:
        return self.view.outcome.path

    @cached_property
    def lines(self) -> list[bytes]:
        return [normal(line) for line in split(self.blob.data)] if self.blob else []

    @cached_property
    def labels(self) -> tuple[Label, ...]:
        return labels(self.path, self.blob.data) if self.blob else ()

    @cached_property
    def symbols(self) -> frozenset[str]:
        return frozenset(name for name, _ in self.labels)

    @cached_property
    def from_new(self) -> Alignment:
        return follow(self.view.new, self)

    @cached_property
    def from_old(self) -> Alignment:
        return follow(self.view.old, self)

    @cached_property
    def kept(self) -> frozenset[int]:
        """Its lines that are lines of the translated image after."""
        return self.from_new.kept()

    @cached_property
    def imports(self) -> Imports:
        return Imports.of(self.lines)

    def missing(self, stretch: Stretch) -> list[int]:
        """The translated lines (of the image after) that a unit adds and the file lacks."""
        added = self.view.new.lines
        out = [i for i in stretch.added if added[i] and not self.from_new.same[i]]
        if stretch.imports:
            out = [i for i in out if not self._imports(i)]
        return out

    def _imports(self, i: int) -> bool:
        """Imports merge as sets: all names of the line are imported, and where it stood there is nothing but what such a
        merge leaves."""
        sides = Sides(self.view.old.imports, self.view.ours.imports, self.view.new.imports)
        beside = self.imports.over(range(self.from_new.low[i], self.from_new.high[i]))
        wanted = sides.new.on(i)
        return (
            wanted is not None
            and wanted <= self.imports.bound
            and all(merged(statement, self.imports, sides) for statement in beside)
        )

    def left(self, stretch: Stretch) -> list[int]:
        """The translated lines (of the image before) that a unit removes and the file still has: more often than the
        image after and the fork's own additions account for."""
        old = self.view.old
        removed = [i for i in stretch.removed if old.lines[i] and self.from_old.same[i]]
        return [i for i in removed if self.from_old.low[i] not in self.kept and self._too_often(old.lines[i])]

    def _too_often(self, line: bytes) -> bool:
        own = self.view.ours.lines.count(line) - self.view.old.lines.count(line)
        return self.lines.count(line) > self.view.new.lines.count(line) + max(own, 0)

    def has(self, stretch: Stretch) -> bool:
        """What the stretch adds is there, what it removes is gone."""
        if self.blob is None:
            return self.view.outcome.change.after is None
        return not self.missing(stretch) and (self.view.marked or not self.left(stretch))
