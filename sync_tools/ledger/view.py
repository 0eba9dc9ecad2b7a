"""One file of a port, seen line by line: upstream's images, their translations, and the fork's file before and after.

This is what both `account` and `check` judge by, so that a ledger says nothing that cannot be found again.
"""

import re
from dataclasses import dataclass
from functools import cached_property

from sync_tools.ledger.align import Alignment, without
from sync_tools.ledger.bindings import Imports, Sides, merged
from sync_tools.ledger.follow import follow
from sync_tools.ledger.lines import normal, split
from sync_tools.ledger.symbols import IMPORTS, Label, is_public, labels
from sync_tools.ledger.units import Unit
from sync_tools.merge.compare import contained
from sync_tools.outcome import FileOutcome
from sync_tools.translate.result import Application, Translation
from sync_tools.tree import Blob
from sync_tools.upstream.changeset import Image

WORD = re.compile(rb"\w+")
MOST = 0.5


@dataclass(frozen=True)
class Translated:
    """An image and its translation."""

    path: str
    image: Image | None
    translation: Translation | None

    @cached_property
    def source(self) -> list[bytes]:
        return split(self.image.data) if self.image else []

    @cached_property
    def lines(self) -> list[bytes]:
        if self.translation is None:
            return [normal(line) for line in self.source]
        return [normal(line) for line in split(self.translation.data)]

    @cached_property
    def labels(self) -> tuple[Label, ...]:
        return labels(self.path, self.translation.data if self.translation else self.image.data if self.image else b"")

    @cached_property
    def vanished(self) -> dict[int, Application]:
        """The upstream lines that a rule removed, with what removed them."""
        gone: dict[int, Application] = {}
        for use in self.translation.applications if self.translation else ():
            if use.before.strip() and not use.after.strip():
                for n, part in enumerate(use.before.encode("utf-8", "surrogateescape").split(b"\n")):
                    at = use.line - 1 + n
                    if at < len(self.source) and not WORD.search(self.source[at].replace(part, b"", 1)):
                        gone[at] = use
        return gone

    @cached_property
    def uses(self) -> dict[int, tuple[Application, ...]]:
        """The rule applications on each upstream line."""
        found: dict[int, list[Application]] = {}
        for use in self.translation.applications if self.translation else ():
            for at in range(use.line - 1, use.line + use.before.rstrip("\n").count("\n")):
                found.setdefault(at, []).append(use)
        return {at: tuple(each) for at, each in found.items()}

    @cached_property
    def imports(self) -> Imports:
        return Imports.of(self.lines)

    @cached_property
    def to_translation(self) -> Alignment:
        return without([normal(line) for line in self.source], self.lines, frozenset(self.vanished))

    def image_of(self, lines: range) -> range:
        """Where upstream lines stand in the translation."""
        return self.to_translation.image(lines)

    def of(self, lines: range) -> list[bytes]:
        """The translation of upstream lines."""
        image = self.image_of(lines)
        return self.lines[image.start : image.stop]


@dataclass(frozen=True)
class FileView:
    """A file's outcome with its images and its standing in the fork, each derived once."""

    outcome: FileOutcome

    @cached_property
    def old(self) -> Translated:
        path = self.outcome.old_path or self.outcome.path
        return Translated(path, self.outcome.change.before, self.outcome.before)

    @cached_property
    def new(self) -> Translated:
        return Translated(self.outcome.path, self.outcome.change.after, self.outcome.after)

    @cached_property
    def final(self) -> "Standing":
        return Standing(self, self.outcome.final)

    @cached_property
    def ours(self) -> "Standing":
        return Standing(self, self.outcome.ours)

    @property
    def marked(self) -> bool:
        """The fork's file holds conflict markers, and between them lines of every side."""
        return self.outcome.merged is not None and bool(self.outcome.merged.conflicts)

    @cached_property
    def _to_ours(self) -> Alignment:
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
        before = self.outcome.before.data if self.outcome.before else None
        if self.outcome.ours is None or self.outcome.ours.data == before or not self.ours.has(unit):
            return False
        removed, added = self.old.of(unit.hunk.old), self.new.of(unit.hunk.new)
        if removed == added:
            return False  # only blanks at line ends differ, which no digest sees
        where = self.final.where(unit)
        around = range(max(where.start - 1, 0), min(where.stop + 1, len(self.final.lines)))
        low, same = self._to_ours.low, self._to_ours.same
        return all(same[i] and low[i] - low[around.start] == i - around.start for i in around)


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

    def where(self, unit: Unit) -> range:
        """The lines of the fork's file that answer to a unit; where it only removes, the gap that is left."""
        return self.from_new.image(self.view.new.image_of(unit.hunk.new))

    def missing(self, unit: Unit) -> list[int]:
        """The translated lines (of the image after) that the unit adds and the file lacks."""
        image = self.view.new.image_of(unit.hunk.new)
        added = self.view.new.lines
        out = [i for i in image if added[i] and not self.from_new.same[i]]
        if unit.symbol == IMPORTS:
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

    def left(self, unit: Unit) -> list[int]:
        """The translated lines (of the image before) that the unit removes and the file still has: more often than the
        image after and the fork's own additions account for."""
        old = self.view.old
        removed = [i for i in old.image_of(unit.hunk.old) if old.lines[i] and self.from_old.same[i]]
        return [i for i in removed if self.from_old.low[i] not in self.kept and self._too_often(old.lines[i])]

    def _too_often(self, line: bytes) -> bool:
        own = self.view.ours.lines.count(line) - self.view.old.lines.count(line)
        return self.lines.count(line) > self.view.new.lines.count(line) + max(own, 0)

    def has(self, unit: Unit) -> bool:
        """The file stands as the unit wants it: what it adds is there, what it removes is gone."""
        if self.blob is None:
            return self.view.outcome.change.after is None
        return not self.missing(unit) and (self.view.marked or not self.left(unit))
