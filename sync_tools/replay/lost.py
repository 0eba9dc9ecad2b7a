"""Which of the fork's own edits no longer stand at the end of a replay.

An edit is a contiguous piece of the overlay's diff. It stands where all of its lines do: a line that it adds is in the file
at least as often as upstream at either end has it and the overlay added, or stands in a line that both sides wrote in; one
that it removes is there at most as often as upstream has it elsewhere: what upstream took away here too, it may write again.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from sync_tools.ledger.align import common
from sync_tools.ledger.lines import split
from sync_tools.ledger.symbols import labels
from sync_tools.replay.blended import Rewritten, blended
from sync_tools.tree import Blob, Tree
from sync_tools.upstream.changeset import FileChange, Image

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
    one, in the fork and in upstream; `explained` are the places of conflicts and of open absent and deferred entries;
    `diverged` are those of open diverged entries, which say that the fork's lines are others, and not whose;
    `rendered` leads from a generated file to the template that it is made from; `disputed` are the lines of both sides in the
    conflicts of a file, wherever they stand at the end."""

    final: Tree
    wanted: Tree
    moved: Mapping[str, str]
    renamed: Mapping[str, str]
    explained: Collection[Place]
    rendered: Mapping[str, str] = field(default_factory=dict)
    disputed: Mapping[str, Collection[bytes]] = field(default_factory=dict)
    diverged: Collection[Place] = ()

    def of_fork(self, path: str) -> str:
        """Where a file of the fork stands at the end."""
        return _followed(path, self.final, self.moved)

    def of_upstream(self, path: str) -> str:
        """Where the import at the end has a file of the import at the start."""
        return _followed(path, self.wanted, self.renamed)

    def explains(self, path: str, symbol: str, *, difference: bool = False) -> bool:
        """Whether a conflict or an open entry names a place or a definition around it; of a `difference` from the import
        a diverged entry speaks too."""
        name = path.rpartition("/")[2]
        return any(
            self.of_fork(p) == path
            and (s in ("", name, p, path) or symbol == s or symbol.startswith(f"{s}.") or s.startswith(f"{symbol}."))
            for p, s in (*self.explained, *(self.diverged if difference else ()))
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
class Lines:
    """A file as its lines, each with the definition that it is in, and how often each stands."""

    lines: Sequence[bytes]
    symbols: Sequence[str]

    @classmethod
    def of(cls, image: Image | None) -> "Lines":
        if image is None:
            return cls((), ())
        return cls(split(image.data), [symbol for symbol, _ in labels(image.path, image.data)])

    @cached_property
    def count(self) -> Counter[bytes]:
        return Counter(self.lines)

    @cached_property
    def placed(self) -> Sequence[tuple[str, bytes]]:
        return list(zip(self.symbols, self.lines, strict=True))


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
    def before(self) -> Lines:
        return Lines.of(self.change.before)

    @cached_property
    def after(self) -> Lines:
        return Lines.of(self.change.after)

    @cached_property
    def end(self) -> Lines:
        """The final file."""
        return Lines.of(Image(self.path, self.final.mode, self.final.data) if self.final else None)

    @cached_property
    def there(self) -> Lines:
        """The file of upstream's at the end."""
        return Lines.of(Image(self.path, self.wanted.mode, self.wanted.data) if self.wanted else None)

    @cached_property
    def blended(self) -> Mapping[bytes, bytes]:
        """The lines of the overlay that stand in one that both sides wrote in."""
        mine = [
            Rewritten.of(self.after.lines[i], [self.before.lines[j] for j in h.old])
            for h in self.change.hunks
            for i in h.new
            if h.old and not self.end.count[self.after.lines[i]]
        ]
        sides = self.before.count.keys() | self.after.count.keys() | self.there.count.keys()
        return blended(mine, self.end.lines, sides) if mine else {}

    def lost(self) -> Iterator[Lost]:
        if whole := self._whole():
            yield self._lost(range(0), whole)
            return
        if self.change.after is None or self.final is None:
            return
        before, after = self.before.lines, self.after.lines
        gone, back = self._gone(), self._back()
        for hunk in self.change.hunks:
            words = [f"added and gone: {_shown(after[i])}" for i in hunk.new if after[i] in gone]
            words += [f"removed and back: {_shown(before[i])}" for i in hunk.old if before[i] in back]
            if words:
                yield from self._unexplained(hunk.new, words)

    def _gone(self) -> set[bytes]:
        added, start, there = self.after.count - self.before.count, self.before.count, self.there.count
        found = {x for x, n in added.items() if x.strip() and self.end.count[x] < min(start[x], there[x]) + n}
        return found - self.blended.keys()

    def _back(self) -> set[bytes]:
        removed, start, there = self.before.count - self.after.count, self.before.count, self.there.count
        kept = self._kept_upstream(removed)
        return {
            x
            for x, n in removed.items()
            if x.strip() and self.end.count[x] > max(start[x] - n, there[x] - min(n, kept[x]), 0)
        }

    def _kept_upstream(self, removed: Counter[bytes]) -> Counter[bytes]:
        """How many of the lines that the overlay removes upstream has at the end still: in the same definition, or
        anywhere where the definition is gone."""
        old = Counter(
            self.before.placed[i] for h in self.change.hunks for i in h.old if self.before.lines[i] in removed
        )
        here, there = Counter(self.before.placed), Counter(self.there.placed)
        names = {symbol for symbol, _ in self.there.placed}
        found: Counter[bytes] = Counter()
        for (symbol, line), n in old.items():
            kept = n if symbol not in names else there[symbol, line] - (here[symbol, line] - n)
            found[line] += max(0, min(n, kept))
        return found

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
    if path in ends.rendered:
        template = ends.rendered[path]
        return ends.final.blob(template) != ends.wanted.blob(template)
    if change is None or change.after is None:
        return any(ends.of_fork(p) == path for p, _ in ends.explained)
    file = EditedFile(change, ends)
    if file.change.binary or final is None:
        return final is not None or ends.explains(path, path)
    if final.mode != (wanted or final).mode and change.after.mode == (change.before or change.after).mode:
        return False
    here, there = file.end, file.there
    pairs = common(here.lines, there.lines)
    before, after = file.before.count, file.after.count
    sides = (
        (here, {i for i, _ in pairs}, (after - before).keys() | set(file.blended.values())),
        (there, {j for _, j in pairs}, (before - after).keys()),
    )
    disputed = {line for p, lines in ends.disputed.items() if ends.of_fork(p) == path for line in lines}
    open_ = [
        (side is there, line)
        for side, same, ours in sides
        for n, (symbol, line) in enumerate(side.placed)
        if n not in same
        and line.strip()
        and line not in ours
        and line not in disputed
        and not ends.explains(path, symbol, difference=True)
    ]
    # Of upstream's, as many lines may be missing as there are that hold both sides.
    return all(theirs for theirs, _ in open_) and len(open_) <= len(file.blended)
