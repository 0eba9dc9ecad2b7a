"""What a change stands on: the earlier changes that wrote the lines it edits, or those directly beside its insertions."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sync_tools.plan.lines import written_by
from sync_tools.plan.model import Need, Place, Relation
from sync_tools.upstream.changeset import Hunk
from sync_tools.upstream.history import FileDiff

RELATIONS: tuple[Relation, ...] = ("edits", "beside", "file", "uses")


@dataclass(frozen=True)
class Base:
    """A file before a change: its lines, where they are at hand, and the definition that each belongs to."""

    lines: Sequence[bytes] = ()
    symbols: Sequence[str] = ()

    def symbol(self, line: int) -> str:
        return self.symbols[line] if line < len(self.symbols) else ""


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
    files: Iterable[FileDiff],
    history: Sequence[tuple[str, tuple[FileDiff, ...]]],
    bases: Mapping[str, Base],
) -> dict[str, tuple[Need, ...]]:
    """Commit of `history` (newest first, up to the change's parent) -> why a change of `files` needs it."""
    asked: dict[str, dict[int, Relation]] = {}
    for file in files:
        if file.old and file.new:
            asked[file.old] = wanted(file.hunks, bases.get(file.old, Base()).lines)
    found: dict[str, list[Need]] = {}
    for reached in written_by(asked, history):
        for path, lines in reached.lines.items():
            for relation in RELATIONS:
                on = tuple(n for n in lines if asked[path][n] == relation)
                if on:
                    symbol = bases.get(path, Base()).symbol(on[0])
                    place = Place(path, tuple(n + 1 for n in on), symbol)
                    found.setdefault(reached.commit, []).append(Need(relation, place))
    for path, commit in _makers({f.old for f in files if f.old}, history):
        found.setdefault(commit, []).append(Need("file", Place(path)))
    return {commit: tuple(why) for commit, why in found.items()}


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
