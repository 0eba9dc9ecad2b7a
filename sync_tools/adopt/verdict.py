"""What the fork has of a landing: lines of evidence, piece by piece and path by path, and the state that they add up to."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

State = Literal["landed", "partly", "absent", "superseded", "skipped"]
ENOUGH, A_TRACE = 0.5, 0.1


class Excuse(NamedTuple):
    """Why a path is not judged. `owned`: what upstream does to it is a person's to read all the same."""

    why: str
    owned: bool = False


class Tally(NamedTuple):
    """Lines of evidence: written ones `held` of `written`, removed ones `gone` of `removed`."""

    held: int = 0
    written: int = 0
    gone: int = 0
    removed: int = 0

    @property
    def done(self) -> bool:
        """The piece is there: at least half of its lines, and at most half of what it replaces."""
        return self.held >= ENOUGH * self.written and self.gone >= ENOUGH * self.removed

    @property
    def wanted(self) -> int:
        return self.written + self.removed

    @property
    def share(self) -> float:
        """Of what it wrote, or of what it removed where it wrote nothing: what is gone may never have been there."""
        if self.written:
            return self.held / self.written
        return self.gone / self.removed if self.removed else 1.0


def total(tallies: Iterable[Tally]) -> Tally:
    return Tally(*map(sum, zip(*tallies, strict=True))) if (tallies := list(tallies)) else Tally()


@dataclass(frozen=True)
class PathVerdict:
    """What the fork has of one path of a landing, piece by piece; `excuse` says why it is not judged. `weak`: only lines
    that prove little could be compared."""

    upstream: str
    path: str
    pieces: tuple[Tally, ...] = ()
    weak: bool = False
    there: bool = True
    excuse: Excuse | None = None

    @property
    def total(self) -> Tally:
        return total(self.pieces)

    @property
    def state(self) -> State:
        return "skipped" if self.excuse else state_of(self.pieces)

    @property
    def intact(self) -> bool:
        """All that upstream removed still stands, and nothing that it wrote does."""
        sums = self.total
        return sums.removed > 0 and sums.gone == 0 and sums.held == 0


@dataclass(frozen=True)
class Verdict:
    """What the fork has of a landing; `by` are the steps that replaced all its lines, where that decided."""

    state: State
    paths: tuple[PathVerdict, ...]
    by: tuple[int, ...] = ()

    @property
    def judged(self) -> tuple[PathVerdict, ...]:
        """The paths that decide: those with lines that prove something, where there are any."""
        told = [p for p in self.paths if not p.excuse and p.total.wanted]
        return tuple([p for p in told if not p.weak] or told)

    @property
    def total(self) -> Tally:
        return total(p.total for p in self.judged)

    @property
    def weak(self) -> bool:
        """No line proves anything."""
        return all(p.weak for p in self.judged)

    @property
    def intact(self) -> bool:
        """Fixed upstream, intact here."""
        sums = self.total
        return self.state == "absent" and sums.removed > 0 and sums.gone == 0 and sums.held == 0


def state_of(pieces: Sequence[Tally]) -> State:
    done = [piece.done for piece in pieces]
    if all(done):
        return "landed"
    return "partly" if any(done) and total(pieces).share >= A_TRACE else "absent"


def overall(verdict: Verdict) -> State:
    if verdict.paths and all(p.excuse for p in verdict.paths):
        return "absent" if any(p.excuse and p.excuse.owned for p in verdict.paths) else "skipped"
    return state_of([piece for p in verdict.judged for piece in p.pieces])
