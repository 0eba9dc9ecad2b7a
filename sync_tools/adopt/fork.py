"""The fork's files as the content test looks at them: where a file of upstream's lives there, and which lines it has."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath

from sync_tools.adopt.lines import compact, tells
from sync_tools.ledger.lines import split
from sync_tools.tree import Blob, Tree

MOVED, FEW = 0.5, 50


@dataclass(frozen=True)
class ForkFile:
    """A file of the fork; one that is not there has no lines."""

    path: str
    blob: Blob | None

    @cached_property
    def lines(self) -> list[bytes]:
        return [compact(line) for line in split(self.blob.data)] if self.blob else []

    @cached_property
    def bag(self) -> Counter[bytes]:
        return Counter(self.lines)


@dataclass
class ForkFiles:
    """`upstreams` are the paths at which the fork would have upstream's files: any other file is the fork's own, and may
    be one of upstream's that it moved."""

    tree: Tree
    upstreams: frozenset[str]
    _known: dict[str, ForkFile] = field(default_factory=dict)

    def file(self, path: str) -> ForkFile:
        if path not in self._known:
            self._known[path] = ForkFile(path, self.tree.blob(path))
        return self._known[path]

    def moved(self, path: str, lines: Sequence[bytes]) -> ForkFile | None:
        """Where a file of these lines went: the fork's own file that holds most of them, if that is at least half. One of
        another kind is no candidate, and of two equal ones that of the same name is taken."""
        wanted = {line for line in lines if tells(line) and len(self._holders.get(line, ())) <= FEW}
        shares = Counter(
            other for line in wanted for other in self._holders.get(line, ()) if _kind(other) == _kind(path)
        )
        if not shares:
            return None
        best = max(sorted(shares), key=lambda other: (shares[other], _name(other) == _name(path)))
        return self.file(best) if shares[best] >= MOVED * len(wanted) else None

    @cached_property
    def _holders(self) -> dict[bytes, list[str]]:
        """The fork's own files that hold a line. A line that many of them hold is no evidence."""
        found: dict[bytes, list[str]] = {}
        for path in sorted(self.tree.paths() - self.upstreams):
            for line in filter(tells, self.file(path).bag):
                found.setdefault(line, []).append(path)
        return found


def _name(path: str) -> str:
    return PurePosixPath(path).name


def _kind(path: str) -> str:
    return PurePosixPath(path).suffix
