"""Whether a landing of upstream's is in the fork, by what stands there: never by a label, a title or a trailer.

What counts of a landing are the lines that it wrote and that still stand at the tip, and the lines that it removed. A line
that later changes of upstream's replaced does not count; a landing of which nothing is left is judged as it was, and by its
successors. Lines that the file had before the window anyway, and lines that say nothing, are no evidence either way.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Protocol

from sync_tools.adopt.fork import ForkFile
from sync_tools.adopt.lines import NOTHING, Rendered, tells
from sync_tools.adopt.trace import BEFORE, Line, Piece, Trace, Traced
from sync_tools.adopt.verdict import Excuse, PathVerdict, State, Tally, Verdict, overall
from sync_tools.ledger.align import common
from sync_tools.upstream.patch import Side

HERE = ("landed", "superseded")


class Places(Protocol):
    """What of the fork answers to a path of a landing."""

    def place(self, path: str) -> str: ...

    def ours(self, traced: Traced) -> ForkFile: ...

    def excuse(self, traced: Traced) -> Excuse | None:
        """Why the path is not upstream's to change in the fork, None where it is."""
        ...


@dataclass
class Judge:
    """Judges the landings of a trace. `rendered` holds the images that `needed` names."""

    trace: Trace
    rendered: Mapping[Side, Rendered]
    places: Places
    _aligned: dict[tuple[int, str], frozenset[int]] = field(default_factory=dict)

    def verdicts(self) -> tuple[Verdict, ...]:
        """One for each step. The images that `replaced_images` names must be there by now."""
        found = [v if v.judged or _excused(v) else replace(v, state="absent") for v in self._left]
        self._judge_replaced(found)
        for n, verdict in enumerate(found):
            if not verdict.judged and not _excused(verdict) and not verdict.by:
                found[n] = replace(verdict, state=self._like_its_writers(n, found))
        self._judge_replaced(found)
        return tuple(found)

    def replaced_images(self) -> set[Side]:
        """The images of the landings of which nothing is left at the tip."""
        return {line.side for n in self._replaced for line in self._ended(n)}

    @cached_property
    def _left(self) -> tuple[Verdict, ...]:
        """By the lines that are left of each landing."""
        return tuple(self._judged(n, lambda line: line in self.trace.standing) for n in range(len(self.trace.steps)))

    @cached_property
    def _replaced(self) -> frozenset[int]:
        return frozenset(n for n, left in enumerate(self._left) if not left.total.written and self._ended(n))

    def _ended(self, n: int) -> list[Line]:
        """The lines that a landing wrote and a later one replaced, where upstream has a say."""
        judged = [traced for traced in self.trace.steps[n] if not self.places.excuse(traced)]
        added = [line for traced in judged for piece in traced.pieces for line in piece.added]
        return [line for line in added if line not in self.trace.standing]

    def _judged(self, n: int, counts: Callable[[Line], bool]) -> Verdict:
        verdict = Verdict("landed", tuple(self._path(n, traced, counts) for traced in self.trace.steps[n]))
        return replace(verdict, state=overall(verdict))

    def _judge_replaced(self, found: list[Verdict]) -> None:
        """What is left of none at the tip is judged as it was, but for what those that replaced it and are here took. Where
        they are all here and took everything, it is superseded; so the newest come first."""
        for n in sorted(self._replaced, reverse=True):
            ended = self.trace.ended
            by = {ended[line] for line in self._ended(n)}
            here = frozenset(m for m in by if found[m].state in HERE)
            was = self._judged(n, partial(_not_taken, ended, here))
            if here and not was.total.written and was.total.gone == was.total.removed:
                was = replace(was, state="superseded", by=tuple(sorted(here)))
            found[n] = was

    def _like_its_writers(self, n: int, found: Sequence[Verdict]) -> State:
        """A landing that only removes what the window wrote, and that the fork has not: whether the fork ever had it."""
        lines = (line for traced in self.trace.steps[n] for piece in traced.pieces for line in piece.removed)
        writers = {line.step for line in lines if line.step != BEFORE}
        return "landed" if all(found[m].state in HERE for m in writers) else "absent"

    def _path(self, n: int, traced: Traced, counts: Callable[[Line], bool]) -> PathVerdict:
        ours, upstream = self.places.ours(traced), traced.change.path
        if excuse := self.places.excuse(traced):
            return PathVerdict(upstream, ours.path, excuse=excuse)
        there = ours.blob is not None
        if not traced.pieces:
            return PathVerdict(upstream, ours.path, (self._whole(traced, ours),), True, there)
        for weak in (False, True):
            pieces = tuple(self._piece(p, n, traced, ours, weak, counts) for p in traced.pieces)
            pieces = tuple(p for p in pieces if p.wanted)
            if pieces:
                return PathVerdict(upstream, ours.path, pieces, weak, there)
        return PathVerdict(upstream, ours.path, (), True, there)

    def _piece(
        self, piece: Piece, n: int, traced: Traced, ours: ForkFile, weak: bool, counts: Callable[[Line], bool]
    ) -> Tally:
        file = self.trace.files[traced.file]
        first, last = self._image(file.first), self._image(file.last)
        written = removed = held = gone = 0
        for line in piece.added:
            if not counts(line):
                continue
            image, at = self._stands(line)
            for j in image.of(at):
                text = image.lines[j]
                if tells(text) and (weak or (line in piece.new and not first.bag[text])):
                    written += 1
                    held += self._holds(ours, traced.file, image, j, weak)
        for line in piece.removed:
            image, at = self._stands(line)
            if self.trace.rewritten.get((traced.file, image.source[at]), BEFORE) >= n:
                continue
            for j in image.of(at):
                text = image.lines[j]
                if tells(text) and (weak or (line in piece.gone and not last.bag[text])):
                    left = ours.bag[text] > last.bag[text]
                    # That a line of the window's is not there proves nothing: the fork may never have had it.
                    removed += left or line.step == BEFORE
                    gone += not left and line.step == BEFORE
        return Tally(held, written, gone, removed)

    def _stands(self, line: Line) -> tuple[Rendered, int]:
        side, at = self.trace.standing.get(line, (line.side, line.at))
        return self._image(side), at

    def _image(self, side: Side | None) -> Rendered:
        return self.rendered[side] if side is not None else NOTHING

    def _holds(self, ours: ForkFile, file: int, image: Rendered, at: int, weak: bool) -> bool:
        """A line stands in the fork's file: as often as it should, else where it should."""
        text = image.lines[at]
        if not ours.bag[text]:
            return False
        if not weak and ours.bag[text] >= image.bag[text]:
            return True
        key = (id(image), ours.path)
        if key not in self._aligned:
            self._aligned[key] = frozenset(i for i, _ in common(image.lines, ours.lines))
        return at in self._aligned[key]

    def _whole(self, traced: Traced, ours: ForkFile) -> Tally:
        """A path whose lines do not change: a rename, a mode, a link, bytes."""
        before, after = traced.change.before, traced.change.after
        if after is None:
            return Tally(gone=int(ours.blob is None), removed=1)
        if ours.blob is None:
            return Tally(written=1)
        if before is not None and before.oid == after.oid:
            moved = before.path == after.path or ours.path != self.places.place(before.path)
            return Tally(held=int(moved and (before.mode == after.mode or ours.blob.mode == after.mode)), written=1)
        last = self.trace.files[traced.file].last
        same = any(self._image(side).translation.data == ours.blob.data for side in (after, last))
        return Tally(held=int(same), written=1)


def _not_taken(ended: Mapping[Line, int], here: frozenset[int], line: Line) -> bool:
    return ended.get(line) not in here


def _excused(verdict: Verdict) -> bool:
    return all(p.excuse for p in verdict.paths)


def needed(trace: Trace, wanted: Iterable[Traced]) -> set[Side]:
    """The images that judging these paths looks at."""
    found: set[Side | None] = set()
    for traced in wanted:
        file = trace.files[traced.file]
        found |= {file.first, file.last}
        if not traced.pieces:
            found.add(traced.change.after)
        for piece in traced.pieces:
            found |= {line.side for line in piece.removed if line not in trace.standing}
    return {side for side in found if side is not None}
