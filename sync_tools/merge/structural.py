"""Three-way merge of a Python file: by line, by definition where that leaves conflicts, and what of it is mechanical."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sync_tools.merge.definitions import merge_definitions
from sync_tools.merge.diff import Hunk
from sync_tools.merge.lines import split
from sync_tools.merge.markers import Clash, Segment, disputed, ours_only
from sync_tools.merge.python import merge_apart, merge_lines
from sync_tools.merge.resolve import Sides
from sync_tools.merge.result import Conflict
from sync_tools.merge.source import Parser, Source
from sync_tools.merge.symbols import MODULE, touched

APART = (0, 3, 10)
"""Unchanged lines that must part changes of both sides, tried in turn, where nothing finer gives a sound merge."""


@dataclass(frozen=True, slots=True)
class PythonMerge:
    """Merges versions of one file that parse."""

    parser: Parser
    sides: Sides

    def final(self) -> list[Segment]:
        """Parses where nothing clashes, and holds each definition as often as the sides' changes say."""
        by_line = merge_lines(self.sides)
        if not disputed(by_line) and self._sound(by_line) and self._imports_agree(by_line):
            return by_line
        by_definition = merge_definitions(self.sides)
        choices = [by_line]
        if by_definition is not None and self._keeps(by_definition):
            choices.insert(0, by_definition)
        sound = [parts for parts in choices if self._sound(parts)]
        return self._with_whole_sides(min(sound, key=disputed)) if sound else self._apart()

    def _with_whole_sides(self, parts: list[Segment]) -> list[Segment]:
        """The merge with conflicts as wide as it takes for our side of them to leave code that parses."""
        if not disputed(parts) or self._merged(parts) is not None:
            return parts
        wider = (merge_apart(self.sides, gap) for gap in range(APART[-1] + 1))
        return next((each for each in wider if self._merged(each) is not None and self._sound(each)), parts)

    def _apart(self) -> list[Segment]:
        """A merge with more conflicts than need be, where every finer one is not sound."""
        choices = (merge_apart(self.sides, gap) for gap in APART)
        return next((parts for parts in choices if self._sound(parts)), [self._everything()])

    def mechanical(self, final: list[Segment]) -> bytes:
        """Ours with those changes of theirs that touch nothing which ours changed; ours where they don't stand alone."""
        b, o, t = self.sides.base, self.sides.ours, self.sides.theirs
        edited = _names(b, o, self.sides.our_changes)
        changes = self.sides.their_changes
        kept = _untouched(b, t, changes, edited)
        if not kept:
            return b"".join(o.lines)
        parts = final if len(kept) == len(changes) else self._with(_applied(b.lines, t.lines, kept))
        return ours_only(parts) if parts and self._holds_together(parts) else b"".join(o.lines)

    def _with(self, theirs: list[bytes]) -> list[Segment]:
        """The merge of other lines of theirs; nothing where they don't parse."""
        source = self.parser.source(theirs)
        return PythonMerge(self.parser, replace(self.sides, theirs=source)).final() if source else []

    def _holds_together(self, parts: list[Segment]) -> bool:
        """Whether what does not clash, with our side of what does, parses and holds nothing twice."""
        merged = self._merged(parts)
        return merged is not None and merged.defined <= self.sides.ours.defined | self.sides.theirs.defined

    def _sound(self, parts: list[Segment]) -> bool:
        merged, sides = self._merged(parts), self.sides
        if merged is None or disputed(parts):
            return bool(disputed(parts)) and (merged is None or self._holds_together(parts))
        return _agrees(merged.defined, sides.base.defined, sides.ours.defined, sides.theirs.defined)

    def _keeps(self, parts: list[Segment]) -> bool:
        """Whether what all three hold once, a merge without clashes holds once."""
        sources = (self.sides.base.lines, self.sides.ours.lines, self.sides.theirs.lines, split(ours_only(parts)))
        once = [{line for line, n in Counter(lines).items() if n == 1 and line.strip()} for lines in sources]
        return bool(disputed(parts)) or once[0] & once[1] & once[2] <= once[3]

    def _imports_agree(self, parts: list[Segment]) -> bool:
        merged, sides = self._merged(parts), self.sides
        return merged is None or _agrees(
            merged.imported, sides.base.imported, sides.ours.imported, sides.theirs.imported
        )

    def _merged(self, parts: list[Segment]) -> Source | None:
        return self.parser.source(split(ours_only(parts)))

    def _everything(self) -> Clash:
        sources = (self.sides.base, self.sides.ours, self.sides.theirs)
        spans = [(0, len(source.lines)) for source in sources]
        base, ours, theirs = (source.lines for source in sources)
        return Clash(Conflict(MODULE, *spans), ours, base, theirs)


def _agrees(merged: Counter[str], base: Counter[str], ours: Counter[str], theirs: Counter[str]) -> bool:
    """Whether each name occurs as often as it does on the side that changed that, or between the two if both did."""
    if merged == ours == theirs:
        return True
    for name in {*merged, *ours, *theirs}:
        m, b, o, t = merged[name], base[name], ours[name], theirs[name]
        low, high = (t, t) if o == b else (o, o) if t == b else (min(o, t), max(o, t))
        if not low <= m <= high:
            return False
    return True


def _untouched(base: Source, side: Source, changes: Sequence[Hunk], held: set[object]) -> list[Hunk]:
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
