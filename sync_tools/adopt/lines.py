"""Lines as the content test compares them: blanks left out, and what is too little to tell anything."""

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from sync_tools.ledger.lines import split
from sync_tools.ledger.rules import is_seam
from sync_tools.ledger.view import Translated
from sync_tools.translate.result import Translation
from sync_tools.upstream.changeset import Image

WORD = re.compile(rb"\w+")
LEAST = 3
COMMONPLACE = frozenset(
    {b"else", b"try", b"finally", b"pass", b"return", b"continue", b"break", b"done", b"then", b"esac", b"None"}
)


def compact(line: bytes) -> bytes:
    """A line without its blanks, so that indentation and layout do not count."""
    return b"".join(line.split())


def tells(line: bytes) -> bool:
    """Whether a line says anything of its own: not blank, not brackets, not a lone keyword."""
    words = WORD.findall(line)
    return sum(map(len, words)) >= LEAST and not (len(words) == 1 and words[0] in COMMONPLACE)


@dataclass(frozen=True)
class Rendered:
    """A file of upstream's as the fork would have it, with the way from its lines to the translation's."""

    image: Image
    translation: Translation

    @cached_property
    def lines(self) -> list[bytes]:
        return [compact(line) for line in split(self.translation.data)]

    @cached_property
    def source(self) -> list[bytes]:
        """Upstream's lines."""
        return [compact(line) for line in split(self.image.data)]

    @cached_property
    def bag(self) -> Counter[bytes]:
        return Counter(self.lines)

    @cached_property
    def _view(self) -> Translated:
        return Translated(self.image.path, self.image, self.translation)

    @cached_property
    def _level(self) -> bool:
        """Line for line, as where only names differ."""
        counts = self.translation.data.count(b"\n") == self.image.data.count(b"\n")
        return counts and not any(is_seam(use.rule) for use in self.translation.applications)

    def of(self, at: int) -> range:
        """The lines of the translation that a line of upstream's became; none where a rule left nothing of it, or where
        several lines became something together, so that nobody can say which became what."""
        if self._level:
            return range(at, at + 1)
        found, way = self._view.image_of(range(at, at + 1)), self._view.to_translation
        beside = [i for i in (at - 1, at + 1) if 0 <= i < len(way.low)]
        shared = any(way.low[i] < found.stop and found.start < way.high[i] for i in beside)
        return range(0) if shared else found


NOTHING = Rendered(Image("", 0, b""), Translation(b""))
