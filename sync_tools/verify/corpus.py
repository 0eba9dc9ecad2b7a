"""Many files searched as one."""

from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate

from sync_tools.verify.source import Source

GAP = b"\n\0\n"


class Corpus:
    """The files joined, so that one search in C finds a word in all of them."""

    def __init__(self, sources: list[Source]) -> None:
        self._sources = sources
        self._joined = GAP.join(source.data for source in sources)
        self._starts = [0, *accumulate(len(source.data) + len(GAP) for source in sources)]

    def holding(self, word: bytes) -> Iterator[Source]:
        """The files that hold the bytes, in order."""
        at = self._joined.find(word)
        while at >= 0:
            index = bisect_right(self._starts, at) - 1
            yield self._sources[index]
            at = self._joined.find(word, self._starts[index + 1])
