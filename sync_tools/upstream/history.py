"""Upstream's main line as values: what each commit says, which paths it touches, and its diff, read by one git each."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from sync_tools.gitio import Repo
from sync_tools.upstream.changeset import Hunk
from sync_tools.upstream.collect import ACCOUNTED, patch_hunks
from sync_tools.upstream.resolve import number_of

FIRST_PARENT = ("log", "--first-parent", "-m")
START = b"\x01"  # no line of a patch begins with it
QUOTED = re.compile(rb'\\([abtnvfr"\\]|[0-7]{3})')
ESCAPES = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}


@dataclass(frozen=True)
class Message:
    """A commit of the main line and what it says of itself. `time` is when it was committed, in seconds."""

    commit: str
    pr: int | None
    subject: str
    body: str
    author: str
    time: int


@dataclass(frozen=True)
class FileDiff:
    """One file of a commit's diff without context; `old` is None for an added file, `new` for a deleted one."""

    old: str | None
    new: str | None
    hunks: tuple[Hunk, ...]
    patch: bytes = b""

    @property
    def path(self) -> str:
        """The path after the change, or the old one of a deleted file."""
        return self.new or self.old or ""


Diffs = Mapping[str, tuple[FileDiff, ...]]
"""The diffs of commits, by commit."""


def messages(repo: Repo, tip: str) -> list[Message]:
    """The first-parent history of `tip`, newest first."""
    out = repo.run("log", "--first-parent", "-z", "--format=%H%x00%ae%x00%ct%x00%s%x00%b", tip, "--")
    fields = out.decode("utf-8", "replace").split("\0")
    return [_message(*fields[at : at + 5]) for at in range(0, len(fields) - 4, 5)]


def _message(commit: str, author: str, time: str, subject: str, body: str) -> Message:
    return Message(commit, number_of(subject), subject, body, author, int(time))


def names(repo: Repo, span: str) -> dict[str, tuple[FileDiff, ...]]:
    """Which paths each commit of a span touches, renames told, without their hunks; newest first."""
    out = repo.run(*FIRST_PARENT, "--name-status", "-M50%", "--format=%x01%H", span, "--")
    return {commit: tuple(map(_named, filter(None, rest.split(b"\n")))) for commit, rest in _commits(out)}


def _named(line: bytes) -> FileDiff:
    status, *paths = line.split(b"\t")
    old, new = _path(paths[0]), _path(paths[-1])
    return FileDiff(None if status[:1] == b"A" else old, None if status[:1] == b"D" else new, ())


def diffs(repo: Repo, span: str, paths: Iterable[str] = ()) -> dict[str, tuple[FileDiff, ...]]:
    """The diff of each commit of a span, newest first, of all paths or of those given. A commit that touches none of
    them, and a file of which no line changes and that is not renamed, are left out."""
    out = repo.run(
        *FIRST_PARENT, "-p", "-U0", "--inter-hunk-context=0", *ACCOUNTED, "--format=%x01%H", span, "--", *paths
    )
    return {commit: tuple(_sections(rest)) for commit, rest in _commits(out)}


def _commits(out: bytes) -> Iterator[tuple[str, bytes]]:
    for record in re.split(rb"^\x01", out, flags=re.M)[1:]:
        commit, _, rest = record.partition(b"\n")
        yield commit.decode(), rest


def _sections(patch: bytes) -> Iterator[FileDiff]:
    for section in re.split(rb"^diff --git .*\n", patch, flags=re.M)[1:]:
        head, _, _ = section.partition(b"\n@@ ")
        told = dict(re.findall(rb"^(rename from|rename to|---|\+\+\+) (.*?)\t?$", head, re.M))
        old = told.get(b"rename from") or _side(told.get(b"---"), b"a/")
        new = told.get(b"rename to") or _side(told.get(b"+++"), b"b/")
        if old or new:
            yield FileDiff(old and _path(old), new and _path(new), patch_hunks(section), section)


def _side(name: bytes | None, prefix: bytes) -> bytes | None:
    if name is None or name == b"/dev/null":
        return None
    return name.replace(prefix, b"", 1)


def _path(shown: bytes) -> str:
    """A path as git prints it: in quotes and escaped where it holds what a line cannot."""
    if shown[:1] == b'"' and shown[-1:] == b'"':
        shown = QUOTED.sub(
            lambda m: ESCAPES.get(m[1]) or (bytes([int(m[1], 8)]) if m[1].isdigit() else m[1]), shown[1:-1]
        )
    return shown.decode("utf-8", "surrogateescape")


def all_names(paths: Collection[str], touched: Iterable[FileDiff]) -> frozenset[str]:
    """The paths with every name that they had or will have by renames."""
    moves = [(f.old, f.new) for f in touched if f.old and f.new and f.old != f.new]
    found, before = set(paths), 0
    while len(found) > before:
        before = len(found)
        found |= {end for move in moves if found & set(move) for end in move}
    return frozenset(found)
