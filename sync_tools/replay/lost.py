"""Which of the fork's own edits no longer stand at the end of a replay.

An edit is a contiguous piece of the overlay's diff. It stands where all of its lines do: a line that it adds is in the file
at least as often as upstream at either end has it and the overlay added, and one that it removes at most as often.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from sync_tools.ledger.align import common
from sync_tools.ledger.lines import split
from sync_tools.ledger.symbols import labels
from sync_tools.tree import Blob, Tree
from sync_tools.upstream.changeset import FileChange

Place = tuple[str, str]


@dataclass(frozen=True)
class Lost:
    """An edit that does not stand: `line` is its first one in the overlay's file, `symbol` the definition it is in."""

    path: str
    line: int
    symbol: str
    what: str


@dataclass(frozen=True)
class Ends:
    """The fork at the end of a replay beside the import there. `moved` and `renamed` lead from a file's path to a later
    one, in the fork and in upstream; `explained` are the places of conflicts and of open absent and deferred entries."""

    final: Tree
    wanted: Tree
    moved: Mapping[str, str]
    renamed: Mapping[str, str]
    explained: Collection[Place]

    def of_fork(self, path: str) -> str:
        """Where a file of the fork stands at the end."""
        return _followed(path, self.final, self.moved)

    def of_upstream(self, path: str) -> str:
        """Where the import at the end has a file of the import at the start."""
        return _followed(path, self.wanted, self.renamed)

    def explains(self, path: str, symbol: str) -> bool:
        """Whether a conflict or an open entry names a place or a definition around it."""
        whole = {"", path, path.rpartition("/")[2]}
        return any(
            p == path and (s in whole or symbol == s or symbol.startswith(f"{s}.") or s.startswith(f"{symbol}."))
            for p, s in self.explained
        )


def _followed(path: str, tree: Tree, moves: Mapping[str, str]) -> str:
    seen = {path}
    while tree.blob(path) is None and path in moves and moves[path] not in seen:
        path = moves[path]
        seen.add(path)
    return path


def lost(overlay: Iterable[FileChange], ends: Ends) -> tuple[Lost, ...]:
    """The edits that neither stand nor are named by a conflict or an open entry."""
    return tuple(x for change in overlay for x in EditedFile(change, ends).lost())


@dataclass(frozen=True)
class EditedFile:
    """One file that the overlay edits, at the four corners of a replay."""

    change: FileChange
    ends: Ends

    @property
    def path(self) -> str:
        return self.ends.of_fork(self.change.path)

    @cached_property
    def final(self) -> Blob | None:
        return self.ends.final.blob(self.path)

    @cached_property
    def wanted(self) -> Blob | None:
        old = self.change.before.path if self.change.before else self.change.path
        return self.ends.wanted.blob(self.ends.of_upstream(old))

    @cached_property
    def _bounds(self) -> tuple[Counter[bytes], Counter[bytes]]:
        """How often each line stands at least and at most, in upstream at either end."""
        start = Counter(split(self.change.before.data) if self.change.before else [])
        end = Counter(split(self.wanted.data) if self.wanted else [])
        return start & end, start | end

    def lost(self) -> Iterator[Lost]:
        if whole := self._whole():
            yield self._lost(range(0), whole)
            return
        if self.change.after is None or self.final is None:
            return
        texts = [split(image.data) if image else [] for image in (self.change.before, self.change.after)]
        added = Counter(texts[1][i] for h in self.change.hunks for i in h.new)
        removed = Counter(texts[0][i] for h in self.change.hunks for i in h.old)
        gone, back = self._gone(added - removed), self._back(removed - added)
        for hunk in self.change.hunks:
            words = [f"added and gone: {_shown(texts[1][i])}" for i in hunk.new if texts[1][i] in gone]
            words += [f"removed and back: {_shown(texts[0][i])}" for i in hunk.old if texts[0][i] in back]
            if words:
                yield from self._unexplained(hunk.new, words)

    def _gone(self, added: Counter[bytes]) -> set[bytes]:
        least, stands = self._bounds[0], Counter(split(self.final.data if self.final else b""))
        return {line for line, n in added.items() if line.strip() and stands[line] < least[line] + n}

    def _back(self, removed: Counter[bytes]) -> set[bytes]:
        most, stands = self._bounds[1], Counter(split(self.final.data if self.final else b""))
        return {line for line, n in removed.items() if line.strip() and stands[line] > max(most[line] - n, 0)}

    def _unexplained(self, lines: range, words: Sequence[str]) -> Iterator[Lost]:
        found = self._lost(lines, words[0])
        if not self.ends.explains(self.path, found.symbol):
            yield found

    def _lost(self, lines: range, what: str) -> Lost:
        after = self.change.after
        names = labels(after.path, after.data) if after else ()
        at = min(lines.start, len(names) - 1)
        return Lost(self.path, lines.start + 1, names[at][0] if names else "", what)

    def _whole(self) -> str:
        """What of the file as a whole does not stand: that it is gone, where it lives, its kind and mode; empty if all does."""
        before, after, final = self.change.before, self.change.after, self.final
        if after is None:
            return "a removed file is back" if final is not None else ""
        if final is None:
            return "the file is gone" if not self.ends.explains(self.path, self.path) else ""
        if self.change.kind == "renamed" and before and self.ends.final.blob(before.path) is not None:
            return f"renamed, and {before.path} is back"
        if before and before.mode != after.mode and final.mode == before.mode:
            return f"the mode is {final.mode:o} again"
        opaque = self.change.binary or self.change.kind == "type"
        if opaque and final.data != after.data and (self.wanted is None or final.data == self.wanted.data):
            return "the content is upstream's again"
        return ""


def _shown(line: bytes) -> str:
    return line.decode("utf-8", "replace").strip()[:80]


def unexplained(overlay: Sequence[FileChange], differing: Iterable[str], ends: Ends) -> tuple[str, ...]:
    """Of the paths in which the fork differs from the import at the end, those that differ in a line that neither the
    overlay nor a conflict or open entry explains."""
    edited = {EditedFile(change, ends).path: change for change in overlay}
    old = {ends.of_upstream(c.before.path) for c in overlay if c.before and (not c.after or c.kind == "renamed")}
    return tuple(p for p in sorted(differing) if not _explained(p, edited.get(p), p in old, ends))


def _explained(path: str, change: FileChange | None, replaced: bool, ends: Ends) -> bool:
    final, wanted = ends.final.blob(path), ends.wanted.blob(path)
    if replaced and final is None:
        return True
    if change is None or change.after is None:
        return any(p == path for p, _ in ends.explained)
    file = EditedFile(change, ends)
    if file.change.binary or final is None:
        return final is not None or ends.explains(path, path)
    if final.mode != (wanted or final).mode and change.after.mode == (change.before or change.after).mode:
        return False
    here, there = split(final.data), split(file.wanted.data) if file.wanted else []
    pairs = common(here, there)
    before, after = (Counter(split(image.data)) if image else Counter() for image in (change.before, change.after))
    sides = (
        (here, labels(path, final.data), {i for i, _ in pairs}, after - before),
        (there, labels(path, file.wanted.data if file.wanted else b""), {j for _, j in pairs}, before - after),
    )
    return all(
        not line.strip() or line in ours or ends.explains(path, symbol)
        for lines, symbols, same, ours in sides
        for n, (line, (symbol, _)) in enumerate(zip(lines, symbols, strict=True))
        if n not in same
    )
