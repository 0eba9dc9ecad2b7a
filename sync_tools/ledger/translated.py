"""An image of upstream's with its translation, line by line."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from sync_tools.ledger.align import Alignment, without
from sync_tools.ledger.bindings import Imports
from sync_tools.ledger.lines import normal, split
from sync_tools.ledger.symbols import Label, labels
from sync_tools.translate.result import Application, Translation
from sync_tools.upstream.changeset import Image

WORD = re.compile(rb"\w+")


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

    def images_of(self, lines: Sequence[int]) -> tuple[int, ...]:
        """Where upstream lines that need not be neighbours stand in the translation."""
        runs = (range(run[0][1], run[-1][1] + 1) for run in map(list, _runs(lines)))
        return tuple(dict.fromkeys(i for run in runs for i in self.image_of(run)))

    def of(self, lines: range) -> list[bytes]:
        """The translation of upstream lines."""
        image = self.image_of(lines)
        return self.lines[image.start : image.stop]


def _runs(lines: Sequence[int]) -> Iterator[Iterator[tuple[int, int]]]:
    """Neighbours among increasing numbers, each with its place among them."""
    return (run for _, run in groupby(enumerate(lines), key=lambda item: item[1] - item[0]))
