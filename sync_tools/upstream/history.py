"""Upstream's main line as values: what each commit says, which paths it touches, and its diff; each read by one git."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from sync_tools.gitio import Repo
from sync_tools.upstream.patch import ACCOUNTED, PRINTED, FileDiff, file_diffs

NUMBER = re.compile(r"\(#([1-9][0-9]{0,8})\)\s*$")  # as many digits as a command takes
FIRST_PARENT = ("log", "--first-parent")
START = re.compile(rb"^\x01", re.M)  # no line of a diff begins with it
NAMED = "--format=%x01%H"


@dataclass(frozen=True)
class Message:
    """A commit of the main line and what it says of itself. `time` is when it was committed, in seconds."""

    commit: str
    pr: int | None
    subject: str
    body: str
    author: str
    time: int


Diffs = Mapping[str, tuple[FileDiff, ...]]
"""The diffs of commits, by commit."""


def number_of(subject: str) -> int | None:
    """The pull request of a commit: the last `(#N)`, at the end of its subject."""
    found = NUMBER.search(subject)
    return int(found[1]) if found else None


def span(floor: str | None, tip: str) -> str:
    """The commits up to `tip`, those up to `floor` left out."""
    return f"{floor}..{tip}" if floor else tip


def messages(repo: Repo, commits: str) -> list[Message]:
    """The first-parent history of a tip, or of a span, newest first."""
    out = repo.run(*FIRST_PARENT, "-z", "--format=%H%x00%ae%x00%ct%x00%s%x00%b", commits, "--")
    fields = out.decode("utf-8", "replace").split("\0")
    return [_message(*fields[at : at + 5]) for at in range(0, len(fields) - 4, 5)]


def _message(commit: str, author: str, time: str, subject: str, body: str) -> Message:
    return Message(commit, number_of(subject), subject, body, author, int(time))


def names(repo: Repo, commits: str) -> dict[str, tuple[FileDiff, ...]]:
    """Which paths each commit of a span touches, renames told, without their hunks; newest first."""
    return _diffs(repo, ("--raw", "--no-abbrev", *ACCOUNTED), commits)


def diffs(repo: Repo, commits: str, paths: Iterable[str] = ()) -> dict[str, tuple[FileDiff, ...]]:
    """The diff of each commit of a span, newest first, of all paths or of those given. A commit that touches none of
    them is left out."""
    return _diffs(repo, PRINTED, commits, *paths)


def _diffs(repo: Repo, printed: Iterable[str], commits: str, *paths: str) -> dict[str, tuple[FileDiff, ...]]:
    out = repo.run(*FIRST_PARENT, "-m", *printed, NAMED, commits, "--", *paths)
    return {commit: tuple(file_diffs(rest)) for commit, rest in _records(out)}


def _records(out: bytes) -> Iterator[tuple[str, bytes]]:
    for record in START.split(out)[1:]:
        commit, _, rest = record.partition(b"\n")
        yield commit.decode(), rest


def all_names(paths: Collection[str], touched: Iterable[FileDiff]) -> frozenset[str]:
    """The paths with every name that they had or will have by renames."""
    moves = [(f.old, f.new) for f in touched if f.old and f.new and f.old != f.new]
    found, before = set(paths), 0
    while len(found) > before:
        before = len(found)
        found |= {end for move in moves if found & set(move) for end in move}
    return frozenset(found)
