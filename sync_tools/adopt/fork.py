"""The fork's files as the content test looks at them: where a file of upstream's lives there, and which lines it has."""

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from sync_tools.adopt.lines import compact, tells
from sync_tools.ledger.lines import split
from sync_tools.tree import Blob, Tree

MOVED = 0.5


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
        another kind is no candidate, and one of the same name goes first."""
        wanted = Counter(line for line in lines if tells(line))
        if not wanted:
            return None
        scored = [(_held(wanted, self.file(other)), _name(other) == _name(path), other) for other in self._own(path)]
        share, _, best = max(scored, default=(0.0, False, ""))
        return self.file(best) if share >= MOVED else None

    def _own(self, path: str) -> Iterable[str]:
        return self._by_kind.get(_kind(path), ())

    @cached_property
    def _by_kind(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for path in sorted(self.tree.paths() - self.upstreams):
            found.setdefault(_kind(path), []).append(path)
        return found


def _held(wanted: Counter[bytes], file: ForkFile) -> float:
    return sum(min(n, file.bag[line]) for line, n in wanted.items()) / wanted.total()


def _name(path: str) -> str:
    return os.path.basename(path)


def _kind(path: str) -> str:
    return os.path.splitext(path)[1]
