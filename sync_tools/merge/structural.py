"""Three-way merge of a Python file: by line, by definition where that leaves conflicts, and what of it is mechanical."""

from collections.abc import Sequence
from dataclasses import dataclass

from sync_tools.merge.definitions import merge_definitions
from sync_tools.merge.diff import Hunk, hunks
from sync_tools.merge.lines import split
from sync_tools.merge.markers import Clash, Clean, Segment, disputed, ours_only
from sync_tools.merge.python import merge_lines
from sync_tools.merge.resolve import Sides
from sync_tools.merge.result import Conflict
from sync_tools.merge.source import Parser, Source
from sync_tools.merge.symbols import MODULE, touched


@dataclass(frozen=True, slots=True)
class PythonMerge:
    """Merges versions of one file that parse."""

    parser: Parser
    sides: Sides

    def final(self) -> list[Segment]:
        """Parses where nothing clashes, and holds no definition more often than a side does."""
        by_line = merge_lines(self.sides)
        if not disputed(by_line) and self._sound(by_line) and self._imports_once(by_line):
            return by_line
        by_definition = merge_definitions(self.sides)
        choices = [parts for parts in (by_definition, by_line) if parts is not None and self._sound(parts)]
        return min(choices, key=disputed, default=[self._everything()])

    def mechanical(self, final: list[Segment]) -> bytes:
        """Ours with those changes of theirs that touch nothing which ours changed; ours where they don't stand alone."""
        b, o, t = self.sides.base, self.sides.ours, self.sides.theirs
        edited = _names(b, o, hunks(b.lines, o.lines))
        changes = hunks(b.lines, t.lines)
        kept = _apart(b, t, changes, edited)
        if len(kept) == len(changes):
            parts = final
        elif kept:
            source = self.parser.source(_applied(b.lines, t.lines, kept))
            if source is None:
                return b"".join(o.lines)
            parts = PythonMerge(self.parser, Sides(b, o, source)).final()
        else:
            parts = []
        result = ours_only(parts)
        return result if parts and self._sound([Clean(split(result))]) else b"".join(o.lines)

    def _sound(self, parts: list[Segment]) -> bool:
        merged = self.parser.source(split(ours_only(parts)))
        if merged is None:
            return bool(disputed(parts))
        return merged.defined <= self.sides.ours.defined | self.sides.theirs.defined

    def _imports_once(self, parts: list[Segment]) -> bool:
        merged = self.parser.source(split(ours_only(parts)))
        return merged is None or merged.imported <= self.sides.ours.imported | self.sides.theirs.imported

    def _everything(self) -> Clash:
        sources = (self.sides.base, self.sides.ours, self.sides.theirs)
        spans = [(0, len(source.lines)) for source in sources]
        base, ours, theirs = (source.lines for source in sources)
        return Clash(Conflict(MODULE, *spans), ours, base, theirs)


def _apart(base: Source, side: Source, changes: Sequence[Hunk], held: set[object]) -> list[Hunk]:
    """The changes that touch nothing held, nor anything that a change left out touches: what moves, moves whole."""
    names = {h: _names(base, side, [h]) for h in changes}
    held = set(held)
    kept = list(changes)
    while any(names[h] & held for h in kept):
        held |= set().union(*(names[h] for h in kept if names[h] & held))
        kept = [h for h in kept if not names[h] & held]
    return kept


def _names(base: Source, side: Source, changes: Sequence[Hunk]) -> set[object]:
    """Identities of what the changes touch, in base or in the side."""
    old = touched(base, [(h.a0, h.a1) for h in changes])
    new = touched(side, [(h.b0, h.b1) for h in changes])
    return {item.identity for item in (*old, *new)}


def _applied(base: Sequence[bytes], side: Sequence[bytes], changes: Sequence[Hunk]) -> list[bytes]:
    result: list[bytes] = []
    at = 0
    for h in changes:
        result += [*base[at : h.a0], *side[h.b0 : h.b1]]
        at = h.a1
    return [*result, *base[at:]]
