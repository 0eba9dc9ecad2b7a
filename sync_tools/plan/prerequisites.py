"""What a change stands on: the earlier changes that wrote the lines it edits, or those directly beside its insertions."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from sync_tools.ledger.lines import split
from sync_tools.ledger.symbols import Label, labels
from sync_tools.plan.lines import written_by
from sync_tools.plan.model import Need, Place, Relation
from sync_tools.upstream.changeset import FileChange, Hunk
from sync_tools.upstream.patch import FileDiff

RELATIONS: tuple[Relation, ...] = ("edits", "beside", "file", "uses")


@dataclass(frozen=True)
class Text:
    """An image of a file: its lines, and the definition that each belongs to, worked out when it is asked for."""

    path: str = ""
    data: bytes = b""

    @cached_property
    def lines(self) -> Sequence[bytes]:
        return split(self.data)

    @cached_property
    def _labels(self) -> Sequence[Label]:
        return labels(self.path, self.data)

    def symbol(self, line: int) -> str:
        """The dotted name of the definition that a line, from 0, stands in."""
        return self._labels[line][0] if line < len(self._labels) else ""


NO_IMAGE = Text()


def wanted(hunks: Iterable[Hunk], lines: Sequence[bytes]) -> dict[int, Relation]:
    """The lines before a change that it rests on: those it removes, and those beside what it only adds, blank ones passed
    over. Without `lines` none is known to be blank."""
    found: dict[int, Relation] = {}
    for hunk in hunks:
        if hunk.old_count:
            found.update(dict.fromkeys(hunk.old, "edits"))
            continue
        above, below = hunk.old.start - 1, hunk.old.start
        while 0 < above < len(lines) and not lines[above].strip():
            above -= 1
        while below < len(lines) - 1 and not lines[below].strip():
            below += 1
        for line in (above, below):
            if line >= 0 and (not lines or line < len(lines)):
                found.setdefault(line, "beside")
    return found


def needs(
    files: Iterable[FileDiff | FileChange],
    history: Sequence[tuple[str, tuple[FileDiff, ...]]],
    texts: Mapping[str, Text],
) -> dict[str, tuple[Need, ...]]:
    """Commit of `history` (newest first, up to the change's parent) -> why a change of `files` needs it."""
    asked: dict[str, dict[int, Relation]] = {}
    for file in files:
        if file.old and file.new:
            asked[file.old] = wanted(file.hunks, texts.get(file.old, NO_IMAGE).lines)
    found: dict[str, list[Need]] = {}
    for reached in written_by(asked, history):
        for path, lines in reached.lines.items():
            for relation in RELATIONS:
                on = tuple(n for n in lines if asked[path][n] == relation)
                if on:
                    symbol = texts.get(path, NO_IMAGE).symbol(on[0])
                    place = Place(path, tuple(n + 1 for n in on), symbol)
                    found.setdefault(reached.commit, []).append(Need(relation, place))
    for path, commit in _makers({f.old for f in files if f.old}, history):
        found.setdefault(commit, []).append(Need("file", Place(path)))
    return {commit: tuple(why) for commit, why in found.items()}


def uses(
    imported: Mapping[str, Mapping[int, str]], history: Sequence[tuple[str, tuple[FileDiff, ...]]]
) -> dict[str, tuple[Need, ...]]:
    """Commit of `history` -> the definitions that it wrote and the change imports."""
    found: dict[str, tuple[Need, ...]] = {}
    for reached in written_by(imported, history):
        places = [Place(path, (n + 1,), imported[path][n]) for path, on in reached.lines.items() for n in on]
        found[reached.commit] = tuple(Need("uses", place) for place in places)
    return found


def merged(*found: Mapping[str, tuple[Need, ...]]) -> dict[str, tuple[Need, ...]]:
    """The needs of several searches, by commit."""
    commits = dict.fromkeys(commit for each in found for commit in each)
    return {commit: tuple(need for each in found for need in each.get(commit, ())) for commit in commits}


def _makers(
    paths: Iterable[str | None], history: Sequence[tuple[str, tuple[FileDiff, ...]]]
) -> Iterable[tuple[str, str]]:
    """(path, the commit that made it or gave it its name), for each path that the history makes."""
    for path in sorted(p for p in paths if p):
        for commit, files in history:
            if any(f.new == path and f.old != path for f in files):
                yield path, commit
                break


def strongest(found: Sequence[Need]) -> int:
    """For an order: edited lines before neighbours before files."""
    return min((RELATIONS.index(need.relation) for need in found), default=len(RELATIONS))
