"""A worksheet: upstream's change of a path that the fork owns, translated, beside what the fork has of the same name.

An owned path is ours alone, so nothing is merged into it and no marker is put there; a person reads the worksheet, does by
hand what is worth doing, and decides about the entry. It is made when asked for, since a ledger holds no text of upstream's.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from sync_tools.config import Config
from sync_tools.ledger.align import align
from sync_tools.ledger.judge import WORKSHEET
from sync_tools.ledger.lines import split
from sync_tools.ledger.model import Entry, Ledger
from sync_tools.ledger.symbols import IMPORTS, MODULE, NOWHERE, Label, labels
from sync_tools.ledger.view import Translated
from sync_tools.merge.diff import hunks
from sync_tools.merge.similar import alike
from sync_tools.policy import policy_for
from sync_tools.translate.result import Translation
from sync_tools.upstream.changeset import FileChange, Image

NEAR = 0.3
AROUND = 3
PLACES = ("", MODULE, IMPORTS)

Translate = Callable[[Image], Translation]


@dataclass(frozen=True)
class Mark:
    """A line of a change: ` `, `-` or `+`; or a gap, of lines that do not change."""

    sign: str
    text: str


@dataclass(frozen=True)
class Sheet:
    """One definition that upstream changed on an owned path (or the changed place of a file without definitions).

    `change` is upstream's change, translated; `ours` are the lines of the fork's counterpart from line `start` on, and
    `ours_symbol` its name, empty where the fork has none.
    """

    upstream: str
    path: str
    symbol: str
    entries: tuple[str, ...]
    state: str
    reason: str
    change: tuple[Mark, ...]
    ours_symbol: str
    start: int
    ours: tuple[str, ...]


def worksheets(
    ledger: Ledger,
    changes: Iterable[FileChange],
    translate: Translate,
    fork: Callable[[str], bytes | None],
    config: Config,
) -> tuple[Sheet, ...]:
    """The worksheets of a change, in the order of its files. `fork` reads the fork's file, None where there is none."""
    found: list[Sheet] = []
    for change in changes:
        name = change.path
        entries = [e for e in ledger.entries if e.upstream.name == name and is_owned(e, config)]
        if entries:
            file = _File(change, translate, entries[0].downstream.path, fork(entries[0].downstream.path))
            found += file.sheets(entries)
    return tuple(found)


def is_owned(entry: Entry, config: Config) -> bool:
    """Whether an entry is of a path that sync.toml keeps for the fork alone."""
    paths = filter(None, (entry.upstream.path, entry.upstream.old_path))
    return any(policy.action == "owned" for path in paths if (policy := policy_for(config, path)))


@dataclass(frozen=True)
class _Text:
    """Lines, and the definition that each belongs to."""

    path: str
    data: bytes

    @cached_property
    def lines(self) -> list[bytes]:
        return split(self.data)

    @cached_property
    def labels(self) -> tuple[Label, ...]:
        return labels(self.path, self.data)

    def of(self, label: Label) -> range:
        """The lines of a definition, from its first to its last."""
        at = [i for i, each in enumerate(self.labels) if each == label]
        while at and not self.lines[at[0]].strip():
            at.pop(0)
        return range(at[0], at[-1] + 1) if at else range(0)

    def part(self, lines: range) -> list[bytes]:
        return self.lines[lines.start : lines.stop]


@dataclass(frozen=True)
class _File:
    change: FileChange
    translate: Translate
    path: str
    data: bytes | None

    @cached_property
    def old(self) -> Translated:
        return self._side(self.change.before)

    @cached_property
    def new(self) -> Translated:
        return self._side(self.change.after)

    def _side(self, image: Image | None) -> Translated:
        carried = image is None or self.change.binary
        return Translated(self.path, image, None if carried or image is None else self.translate(image))

    @cached_property
    def before(self) -> _Text:
        return _Text(self.path, self.old.translation.data if self.old.translation else b"")

    @cached_property
    def after(self) -> _Text:
        return _Text(self.path, self.new.translation.data if self.new.translation else b"")

    @cached_property
    def ours(self) -> _Text:
        return _Text(self.path, self.data or b"")

    def sheets(self, entries: Sequence[Entry]) -> Iterator[Sheet]:
        """One for each definition; what is in none goes by the place that it changes."""
        groups: dict[Label, list[Entry]] = {}
        for e in entries:
            groups.setdefault(self._label(e), []).append(e)
        for label, group in groups.items():
            if label[0] in PLACES:
                yield from (self._sheet(label, [e]) for e in group)
            else:
                yield self._sheet(label, group)

    def _label(self, e: Entry) -> Label:
        for side, text, lines in (
            (self.new, self.after, e.upstream.new.lines),
            (self.old, self.before, e.upstream.old.lines),
        ):
            image = side.image_of(lines) if lines and side.image else range(0)
            found = [text.labels[i] for i in image if i < len(text.labels)]
            if found:
                return found[0]
        return NOWHERE

    def _sheet(self, label: Label, group: Sequence[Entry]) -> Sheet:
        if label[0] in PLACES:
            old = self._around(self.old, self.before, group[0].upstream.old.lines)
            new = self._around(self.new, self.after, group[0].upstream.new.lines)
            place, name = self._beside(old), ""
        else:
            old, new = self.before.of(label), self.after.of(label)
            place, name = self._counterpart(label, [*self.before.part(old), *self.after.part(new)])
        states = {e.state for e in group}
        return Sheet(
            upstream=self.change.path,
            path=self.path,
            symbol=label[0] or group[0].upstream.symbol,
            entries=tuple(e.id for e in group),
            state="open" if "open" in states else "decided" if "decided" in states else "settled",
            reason="; ".join(dict.fromkeys(e.reason.removesuffix(f"; {WORKSHEET}") for e in group)),
            change=tuple(_marks(self.before.part(old), self.after.part(new))),
            ours_symbol=name,
            start=place.start + 1,
            ours=tuple(map(_shown, self.ours.part(place))),
        )

    def _around(self, side: Translated, text: _Text, lines: range) -> range:
        if side.image is None:
            return range(0)
        image = side.image_of(lines)
        return range(max(image.start - AROUND, 0), min(image.stop + AROUND, len(text.lines)))

    def _beside(self, old: range) -> range:
        """Where the fork has what upstream had there."""
        way = align(self.before.lines, self.ours.lines)
        image = way.image(old) if old else range(0)
        return range(max(image.start - AROUND, 0), min(image.stop + AROUND, len(self.ours.lines)))

    def _counterpart(self, label: Label, wanted: Sequence[bytes]) -> tuple[range, str]:
        """The fork's definition of the same name, else the one that is most like it."""
        if same := self.ours.of(label):
            return same, label[0]
        scored = [
            (alike(self.ours.part(self.ours.of(other)), wanted), other) for other in dict.fromkeys(self.ours.labels)
        ]
        share, best = max(scored, default=(0.0, NOWHERE))
        return (self.ours.of(best), best[0]) if share >= NEAR else (range(0), "")


def _marks(old: Sequence[bytes], new: Sequence[bytes]) -> Iterator[Mark]:
    """The change from one text to the other, with a few lines around it."""
    at = 0
    for hunk in hunks(old, new):
        yield from _context(old[at : hunk.a0], first=at == 0)
        yield from (Mark("-", _shown(line)) for line in old[hunk.a0 : hunk.a1])
        yield from (Mark("+", _shown(line)) for line in new[hunk.b0 : hunk.b1])
        at = hunk.a1
    rest = old[at:]
    yield from (Mark(" ", _shown(line)) for line in rest[:AROUND])
    if len(rest) > AROUND:
        yield Mark("", f"{len(rest) - AROUND} more lines")


def _context(lines: Sequence[bytes], first: bool) -> Iterator[Mark]:
    """The unchanged lines before a hunk, cut in the middle where they are many."""
    head = () if first else lines[:AROUND]
    tail = lines[max(len(head), len(lines) - AROUND) :]
    left = len(lines) - len(head) - len(tail)
    yield from (Mark(" ", _shown(line)) for line in head)
    if left:
        yield Mark("", f"{left} lines that stay")
    yield from (Mark(" ", _shown(line)) for line in tail)


def _shown(line: bytes) -> str:
    return line.decode("utf-8", "replace").rstrip("\r\n")
