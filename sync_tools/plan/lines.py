"""Lines followed through a history by its diffs: back to the commit that wrote them, and on to those that change them.

A file's lines are numbered from 0. What is followed is a mapping from where a line stands now to where it stood in the
change that is planned; pure functions, no git.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sync_tools.upstream.changeset import Hunk
from sync_tools.upstream.history import FileDiff

Followed = dict[str, dict[int, int]]
"""Path -> line now -> line then."""

STRANGER = -1
"""A line that a later commit put among those that are followed."""


@dataclass(frozen=True)
class Reached:
    """Where a commit meets lines that are followed: their numbers then, by the path that they had then."""

    commit: str
    lines: Mapping[str, tuple[int, ...]]


def written_by(
    wanted: Mapping[str, Iterable[int]], history: Iterable[tuple[str, tuple[FileDiff, ...]]]
) -> list[Reached]:
    """Which commits of a history (newest first, ending at the image that `wanted` speaks of) wrote the wanted lines."""
    left = {path: {(path, line): line for line in lines} for path, lines in wanted.items()}
    found = []
    for commit, files in history:
        written: dict[str, list[int]] = {}
        moved: dict[str, dict[tuple[str, int], int]] = {}
        for file in files:
            lines = left.pop(file.new, None) if file.new else None
            if lines is None:
                continue
            here, before = _back(lines, file.hunks)
            for path, line in here:
                written.setdefault(path, []).append(line)
            if file.old and before:
                moved.setdefault(file.old, {}).update(before)
        left.update(moved)
        if written:
            found.append(Reached(commit, {path: tuple(sorted(on)) for path, on in sorted(written.items())}))
    return found


def _back(
    lines: Mapping[tuple[str, int], int], hunks: Sequence[Hunk]
) -> tuple[list[tuple[str, int]], dict[tuple[str, int], int]]:
    """(what the hunks wrote, the others where they stood before)."""
    written, before, at, shift = [], {}, 0, 0
    for key, line in sorted(lines.items(), key=lambda item: item[1]):
        while at < len(hunks) and hunks[at].new.stop <= line:
            shift += hunks[at].old_count - hunks[at].new_count
            at += 1
        if at < len(hunks) and line in hunks[at].new:
            written.append(key)
        else:
            before[key] = line + shift
    return written, before


def changed_by(own: Mapping[str, Iterable[int]], history: Iterable[tuple[str, tuple[FileDiff, ...]]]) -> list[Reached]:
    """Which commits of a history (oldest first, beginning after the image that `own` speaks of) change or remove the
    lines of `own`, or put lines between them."""
    paths = {path: path for path in own}
    followed = {path: {line: line for line in lines} for path, lines in own.items()}
    found = []
    for commit, files in history:
        met: dict[str, tuple[int, ...]] = {}
        moved: Followed = {}
        named: dict[str, str] = {}
        for file in files:
            lines = followed.pop(file.old, None) if file.old else None
            if lines is None:
                continue
            assert file.old
            origin = paths.pop(file.old)
            reached, after = _on(lines, file.hunks)
            if reached:
                met[origin] = tuple(sorted(reached))
            if file.new and after:
                moved[file.new], named[file.new] = after, origin
        followed.update(moved)
        paths.update(named)
        if met:
            found.append(Reached(commit, met))
    return found


def _on(lines: Mapping[int, int], hunks: Sequence[Hunk]) -> tuple[set[int], dict[int, int]]:
    """(lines then that the hunks reach, what is left where it stands afterwards).

    New lines between two that are followed become strangers among them: what is put between those later counts still.
    """
    reached: set[int] = set()
    after: dict[int, int] = {}
    gone: set[int] = set()
    for hunk in hunks:
        inside = {lines[n] for n in hunk.old if n in lines}
        beside = {lines.get(hunk.old.start - 1), lines.get(hunk.old.stop)}
        within = None not in beside
        if not hunk.old_count and within:
            inside = {n for n in beside if n is not None}
        gone |= set(hunk.old)
        reached |= inside - {STRANGER}
        if within or inside:
            after.update(dict.fromkeys(hunk.new, STRANGER))
    at, shift = 0, 0
    for line, then in sorted(lines.items()):
        while at < len(hunks) and hunks[at].old.stop <= line:
            shift += hunks[at].new_count - hunks[at].old_count
            at += 1
        if line not in gone:
            after[line + shift] = then
    return reached, after
