"""Lines that both sides wrote in: a row of the matrix, an import, the elements of a literal on one line.

Such a line is neither the fork's nor upstream's any more, and both edits stand in it.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

# A comma only joins: which words it stands between may be upstream's doing.
WORD = re.compile(rb"\w+|[^\w\s,]")
Words = Counter[bytes]


def words(lines: Iterable[bytes]) -> Words:
    return Counter(word for line in lines for word in WORD.findall(line))


@dataclass(frozen=True)
class Rewritten:
    """A line of the fork's, and what it wrote and struck out in the lines that stood there."""

    line: bytes
    wrote: Words
    struck: Words

    @classmethod
    def of(cls, line: bytes, old: Sequence[bytes]) -> "Rewritten":
        """`old` are the lines of the import that the hunk of this line replaced."""
        before, here = words(old), words([line])
        nearest = max(old, key=lambda x: (words([x]) & here).total(), default=b"")
        return cls(line, here - before, words([nearest]) - here)

    def stands_in(self, line: bytes) -> bool:
        """Whether a line that neither side has as such holds this edit."""
        there, mine = words([line]), words([self.line])
        alike = 2 * (there & mine).total() > mine.total()
        kept_out = all(there[word] <= mine[word] for word in self.struck)
        return bool(self.wrote or self.struck) and alike and self.wrote <= there and kept_out


def blended(mine: Iterable[Rewritten], final: Iterable[bytes], sides: Collection[bytes]) -> dict[bytes, bytes]:
    """The fork's lines that stand in another one at the end, each with that one; `sides` are the lines of the fork and
    of upstream at either end."""
    fresh = [line for line in final if line.strip() and line not in sides]
    found = ((own.line, next((x for x in fresh if own.stands_in(x)), None)) for own in mine)
    return {line: x for line, x in found if x is not None}
