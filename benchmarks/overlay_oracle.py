"""What should have become of a fork's edits, told without any merge: each is made again, as a person would, on the tip.

A line of the import is followed to the tip by difflib: within the function of its name, wherever that went, else within its
file. Where upstream left the lines that an edit replaced (or the two that an insertion stands between), there is one right
result, and what stands at the end must be that, to the byte. Where upstream wrote there too (the edit is contested), the
edit must still stand once, in its function, or a conflict must be told.
"""

import ast
import difflib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from benchmarks.overlay_edits import Drawn, Edit, Files, applied, homes
from benchmarks.overlay_file import Piece, file

Line = tuple[str, int]
OUTCOMES = ("kept", "merged", "conflict", "wrong")
"""Where upstream wrote nothing and the result is the right one; where it wrote too and both stand; told; and the rest."""


@dataclass(frozen=True)
class Followed:
    """Where the lines of the import stand at the tip, for the files that are asked about."""

    base: Files
    tip: Files
    _found: dict[str, dict[int, Line]] = field(default_factory=dict)

    def lines(self, path: str) -> Mapping[int, Line]:
        if path not in self._found:
            self._found[path] = dict(self._follow(path))
        return self._found[path]

    def _follow(self, path: str) -> Iterator[tuple[int, Line]]:
        before = self.base[path].splitlines()
        if path in self.tip:
            for a, b in _same(before, self.tip[path].splitlines()):
                yield a, (path, b)
        if not path.endswith(".py"):
            return
        for name, old in file(path, self.base[path]).functions.items():
            at = self._home(path, name)
            if at is None:
                continue
            new = file(at, self.tip[at]).functions[name]
            yield from ((n, ("", -1)) for n in old)
            there = self.tip[at].splitlines()[new.start : new.stop]
            yield from ((old.start + a, (at, new.start + b)) for a, b in _same(before[old.start : old.stop], there))

    def _home(self, path: str, name: str) -> str | None:
        if path in self.tip and name in file(path, self.tip[path]).functions:
            return path
        found = homes(name, path, self.base, self.tip)
        return found[0] if len(found) == 1 else None

    def place(self, path: str, piece: Piece) -> tuple[str, Piece] | None:
        """The file and the lines of the tip that a piece is about; None where upstream wrote there."""
        known, nowhere = self.lines(path), ("", -1)
        if piece.start < piece.stop:
            found = [known.get(n, nowhere) for n in range(piece.start, piece.stop)]
            at, first = found[0]
            if not at or found != [(at, first + n) for n in range(len(found))]:
                return None
            return at, Piece(first, first + len(found), piece.lines)
        above, below = known.get(piece.start - 1, nowhere), known.get(piece.start, nowhere)
        if not above[0] or above != (below[0], below[1] - 1):
            return None
        return below[0], Piece(below[1], below[1], piece.lines)


def _next(lines: Sequence[str], n: int) -> str:
    return lines[n + 1].strip() if n + 1 < len(lines) else ""


def _same(before: Sequence[bytes], after: Sequence[bytes]) -> Iterator[tuple[int, int]]:
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for block in matcher.get_matching_blocks():
        yield from ((block.a + n, block.b + n) for n in range(block.size))


@dataclass(frozen=True)
class Judged:
    """What became of an edit; `why` is empty where nothing is wrong."""

    edit: Edit
    outcome: str
    why: str = ""


@dataclass(frozen=True)
class Oracle:
    """`told` are the places (path, symbol) that a conflict or an open entry (absent, deferred) names, at whatever time of
    a replay; a symbol that is none (empty, the path, the module) stands for the whole file. `diverged` are the paths of which
    an open entry says that the fork's lines are others: told of a file, and no excuse for an edit."""

    drawn: Drawn
    base: Files
    tip: Files
    final: Files
    told: Collection[tuple[str, str]]
    diverged: Collection[str] = ()

    @cached_property
    def told_paths(self) -> set[str]:
        return {path for path, _ in self.told}

    def _is_told(self, edit: Edit) -> bool:
        """Whether a told place is the one of an edit: its function, or one around it or in it."""
        homes = self._homes(edit)
        functions = {edit.symbol, *self._symbols(edit), ""}
        return any(
            path in homes
            and (
                symbol in ("", path, path.rpartition("/")[2])
                or symbol.startswith("<")
                or not edit.symbol
                or any(f"{f}.".startswith(f"{symbol}.") or f"{symbol}.".startswith(f"{f}.") for f in functions if f)
            )
            for path, symbol in self.told
        )

    @cached_property
    def _followed(self) -> Followed:
        return Followed(self.base, self.tip)

    @cached_property
    def places(self) -> Mapping[Edit, list[tuple[str, Piece]] | None]:
        """Where each edit is to be made at the tip; None where it is contested."""
        found = {}
        for edit in self.drawn.edits:
            places = [self._followed.place(edit.path, piece) for piece in edit.pieces]
            away = any(place and place[0] != edit.path for place in places) and edit.path in self.told_paths
            found[edit] = None if None in places or away else [place for place in places if place]
        return found

    @cached_property
    def edited(self) -> Files:
        return self.drawn.files(self.base)

    @cached_property
    def wanted(self) -> Files:
        """The tip with every edit made that nothing contests."""
        pieces: dict[str, list[Piece]] = {}
        for places in self.places.values():
            for path, piece in places or ():
                pieces.setdefault(path, []).append(piece)
        return {path: applied(self.tip[path], found) for path, found in pieces.items()}

    @cached_property
    def standing(self) -> Mapping[str, list[tuple[str, int]]]:
        """Where each mark stands at the end."""
        found: dict[str, list[tuple[str, int]]] = {}
        marks = [e.mark for e in self.drawn.edits]
        for path, data in self.final.items():
            if b"our_edit_" not in data or is_generated(path):
                continue
            for n, line in enumerate(data.decode("utf-8", "replace").splitlines()):
                for mark in marks:
                    if mark in line:
                        found.setdefault(mark, []).append((path, n))
        return found

    def edits(self) -> list[Judged]:
        return [self._judge(edit) for edit in self.drawn.edits]

    def _judge(self, edit: Edit) -> Judged:
        told = self._is_told(edit)
        why = self._amiss(edit)
        if self.places[edit] is not None and not why and self._to_the_byte(edit):
            return Judged(edit, "kept")
        if why:
            return Judged(edit, "wrong", why)
        if told:
            return Judged(edit, "conflict")
        if self.places[edit] is not None:
            return Judged(edit, "wrong", "not where it belongs, or not alone there")
        return Judged(edit, "merged")

    def _to_the_byte(self, edit: Edit) -> bool:
        """Whether each piece stands at its place between the lines that belong beside it."""
        return all(self._piece_stands(path, piece) for path, piece in self.places[edit] or ())

    def _piece_stands(self, path: str, piece: Piece) -> bool:
        others = [p for places in self.places.values() for at, p in places or () if at == path]
        shift = sum(len(p.lines) - (p.stop - p.start) for p in others if p.stop <= piece.start and p != piece)
        want, have = self.wanted[path].splitlines(), self.final.get(self._now(path), b"").splitlines()
        first = piece.start + shift
        window = want[max(first - 1, 0) : first + len(piece.lines) + 1]
        return _count(window, have) == _count(window, want)

    def _now(self, path: str) -> str:
        return self.drawn.renames.get(path, path)

    def _amiss(self, edit: Edit) -> str:
        """What is wrong with an edit whatever upstream did: a line of it is gone, stands twice, or in another function."""
        words = [line.strip() for piece in edit.pieces for line in piece.lines if line.strip()]
        where = self.standing.get(edit.mark, [])
        marked = sum(edit.mark in word for word in words)
        if len(where) < marked:
            return f"{marked - len(where)} of {marked} lines gone"
        if len(where) > marked:
            return "stands twice"
        lines = [self.final[path].decode("utf-8", "replace").splitlines()[n].strip() for path, n in where]
        order = [word for word in words if edit.mark in word]
        if lines != order and sorted(lines) == sorted(order):
            return "its lines changed places"
        for (path, n), home, below in zip(where, self._symbols(edit), self._below(edit), strict=True):
            if path.endswith(".py") and parses(self.final[path]):
                symbol = file(path, self.final[path]).symbol(n)
                # Upstream may take a function's beginning into a function of its own: an edit goes with its line below.
                went_along = below and below == _next(self.final[path].decode("utf-8", "replace").splitlines(), n)
                if symbol != home and not went_along and (not home or home in file(path, self.final[path]).functions):
                    return f"in {symbol or 'no function'}, not in {home or 'none'}"
        return ""

    def _below(self, edit: Edit) -> list[str]:
        """The lines below the marks of an edit, in the fork before the window."""
        lines = self.edited[edit.path].decode("utf-8").splitlines()
        return [_next(lines, n) for n, line in enumerate(lines) if edit.mark in line]

    def _symbols(self, edit: Edit) -> list[str]:
        """The functions that the marks of an edit stand in, in the fork before the window."""
        data = self.edited[edit.path]
        lines = data.decode("utf-8").splitlines()
        return [file(edit.path, data).symbol(n) for n, line in enumerate(lines) if edit.mark in line]

    def files(self) -> list[str]:
        """What is wrong with whole files: one that does not parse, one that holds something that neither the tip nor an
        edit explains, one that a rename left behind."""
        wrong = []
        for path in sorted({*self.tip, *self.final} - set(self.drawn.renames.values())):
            if is_generated(path):
                continue
            now = self._now(path)
            if (
                path.endswith(".py")
                and now in self.final
                and b"our_edit_" in self.final[now]
                and not parses(self.final[now])
            ):
                wrong.append(f"does not parse: {now}")
            if not {now, path} & {*self.told_paths, *self.diverged}:
                wrong += self._difference(path, now)
        return wrong + [
            f"renamed in vain: {o} -> {n}"
            for o, n in self.drawn.renames.items()
            if o in self.final or n not in self.final
        ]

    def _difference(self, path: str, now: str) -> list[str]:
        if path not in self.tip or now not in self.final:
            return [f"{'too much' if now in self.final else 'missing'}: {now}"]
        contested = [e for e, places in self.places.items() if places is None and path in self._homes(e)]
        want, have = self.wanted.get(path, self.tip[path]), self.final[now]
        if not contested:
            return [] if want == have else [f"differs: {now}"]
        ours = Counter(line.strip().encode() for e in contested for p in e.pieces for line in p.lines)
        gone = Counter(line.strip() for e in contested for line in self._replaced(e))
        a, b = (Counter(line.strip() for line in data.splitlines()) for data in (want, have))
        more, less = b - a - ours, a - b - gone
        # A line that both sides wrote in may hold what both wrote: a mark, in a line that stands for one of upstream's.
        both = [line for line in more if b"our_edit_" in line]
        more = Counter({line: n for line, n in more.items() if line and line not in both})
        less = Counter({line: n for line, n in less.items() if line})
        return [f"differs: {now}: {_shown(more)} / {_shown(less)}"] if more or len(less) > len(both) else []

    def _homes(self, edit: Edit) -> set[str]:
        return {edit.path, *(p for p, _ in self.standing.get(edit.mark, ()))}

    def _replaced(self, edit: Edit) -> list[bytes]:
        lines = self.base[edit.path].splitlines()
        return [line for p in edit.pieces for line in lines[p.start : p.stop]]


def is_generated(path: str) -> bool:
    """Made again from a template, never merged."""
    return path.startswith(".github/workflows/") and not path.endswith(".j2")


def parses(data: bytes) -> bool:
    try:
        ast.parse(data)
    except (SyntaxError, ValueError):
        return False
    return True


def _count(window: Sequence[bytes], lines: Sequence[bytes]) -> int:
    size = len(window)
    return sum(list(lines[n : n + size]) == list(window) for n in range(len(lines) - size + 1))


def _shown(lines: Counter[bytes]) -> str:
    return "; ".join(line.decode("utf-8", "replace")[:60] for line in lines)
