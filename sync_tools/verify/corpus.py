"""Many files searched as one."""

import re
from bisect import bisect_right
from functools import cached_property
from itertools import accumulate

from sync_tools.verify.source import PYTHON, Source

GAP = b"\n\0\n"


class Corpus:
    """The files joined, so that one search in C finds a word in all of them."""

    def __init__(self, sources: list[Source]) -> None:
        self._sources = sources
        self._joined = GAP.join(source.data for source in sources)
        self._starts = [0, *accumulate(len(source.data) + len(GAP) for source in sources)]

    def holding(self, word: bytes) -> list[Source]:
        """The files that hold the bytes, in order."""
        found, at = [], self._joined.find(word)
        while at >= 0:
            index = bisect_right(self._starts, at) - 1
            found.append(self._sources[index])
            at = self._joined.find(word, self._starts[index + 1])
        return found

    @cached_property
    def options(self) -> frozenset[str]:
        """Every word that begins with two dashes, without them."""
        return frozenset(m.decode() for m in re.findall(rb"(?<![\w-])--([a-zA-Z][\w-]*)", self._joined))

    @cached_property
    def arguments(self) -> frozenset[str]:
        """Every name that Python code stores in `args` or gives to a constructor, a parser or a namespace by name."""
        python = GAP.join(source.data for source in self._sources if source.suffix in PYTHON)
        stored = (
            rb"\bargs\.(\w+)\s*(?::[^=\n]+)?=(?!=)|dest=[\"'](\w+)|[(,]\s*(\w+)\s*=(?!=)|^\s+(\w+)\s*:|[\"'](\w+)[\"']"
        )
        return frozenset(name.decode() for m in re.findall(stored, python, re.MULTILINE) for name in m if name)

    def reads(self, besides: frozenset[str]) -> frozenset[str]:
        """Every `args.x` of the Python files whose paths are not among `besides`."""
        python = GAP.join(s.data for s in self._sources if s.suffix in PYTHON and s.path not in besides)
        return frozenset(m.decode() for m in re.findall(rb"\bargs\.(\w+)", python))
