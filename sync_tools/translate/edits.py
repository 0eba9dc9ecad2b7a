"""Edits of one text: collected by several passes, the earlier pass winning, and applied once."""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field

from sync_tools.translate.result import Application, Site


@dataclass(frozen=True, order=True)
class Edit:
    """Replace text[start:end] by `new`. `before`, `after` and `at` say what the rule did where, if that is not the span."""

    start: int
    end: int
    new: str
    rule: str
    before: str | None = None
    after: str | None = None
    at: int | None = None
    listed: bool = True


@dataclass
class Claims:
    """The spans that a pass has dealt with; what comes later leaves them alone. A kept span is claimed without an edit."""

    text: str
    edits: list[Edit] = field(default_factory=list)
    notes: list[tuple[int, int, str, str]] = field(default_factory=list)
    _starts: list[int] = field(default_factory=list)
    _ends: list[int] = field(default_factory=list)

    def free(self, start: int, end: int) -> bool:
        """True where no earlier claim overlaps the span."""
        i = bisect_right(self._starts, start)
        if i and self._ends[i - 1] > start:
            return False
        return i == len(self._starts) or self._starts[i] >= end

    def keep(self, start: int, end: int) -> None:
        """Claim a free span; spans that overlap an earlier claim are ignored."""
        if end > start and self.free(start, end):
            i = bisect_left(self._starts, start)
            self._starts.insert(i, start)
            self._ends.insert(i, end)

    def edit(self, edit: Edit) -> bool:
        """Claim the span and record its edit; False (and nothing done) where it is claimed already."""
        if not self.free(edit.start, edit.end):
            return False
        self.keep(edit.start, edit.end)
        if edit.before is not None or edit.new != self.text[edit.start : edit.end]:
            self.edits.append(edit)
        return True

    def site(self, start: int, end: int, what: str, why: str) -> None:
        """Report what was recognised and could not be translated."""
        self.notes.append((start, end, what, why))

    def apply(self) -> str:
        """The text after all edits."""
        return self.after(0, len(self.text))

    def after(self, start: int, end: int) -> str:
        """What start..end becomes; no edit may cross its borders."""
        parts, at = [], start
        for e in sorted((e for e in self.edits if start <= e.start and e.end <= end), key=lambda e: (e.start, e.end)):
            parts += [self.text[at : e.start], e.new]
            at = e.end
        return "".join([*parts, self.text[at:end]])


@dataclass(frozen=True)
class Lines:
    """Offsets of a text as 1-based lines and columns."""

    starts: tuple[int, ...]

    @staticmethod
    def of(text: str) -> "Lines":
        starts, at = [0], text.find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = text.find("\n", at + 1)
        return Lines(tuple(starts))

    def at(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1] + 1


def report(claims: Claims) -> tuple[tuple[Application, ...], tuple[Site, ...]]:
    """The edits and notes with their lines and columns in the text that went in."""
    if not claims.edits and not claims.notes:
        return (), ()
    lines, text = Lines.of(claims.text), claims.text
    applications = [
        Application(
            *lines.at(e.start if e.at is None else e.at),
            rule=e.rule,
            before=text[e.start : e.end] if e.before is None else e.before,
            after=e.new if e.after is None else e.after,
        )
        for e in claims.edits
        if e.listed
    ]
    sites = {
        Site(*lines.at(start), lines.at(max(start, end - 1))[0], what, why) for start, end, what, why in claims.notes
    }
    return tuple(sorted(applications)), tuple(sorted(sites))
