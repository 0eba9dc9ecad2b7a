"""The landings of a window as changes of paths and lines: three runs of git, however many landings there are."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sync_tools.gitio import Repo
from sync_tools.upstream.changeset import Hunk
from sync_tools.upstream.collect import ACCOUNTED, patch_hunks, raw_records
from sync_tools.upstream.resolve import Landing
from sync_tools.upstream.window import Window

COMMIT = re.compile(rb"^([0-9a-f]{40})\n", re.M)
SECTION = re.compile(rb"^diff --git .*\n", re.M)


class Side(NamedTuple):
    """A file on one side of a change, by its object."""

    path: str
    mode: int
    oid: str


class Change(NamedTuple):
    """One path of a landing's diff; a side is None where the file is not there."""

    before: Side | None
    after: Side | None
    hunks: tuple[Hunk, ...]

    @property
    def path(self) -> str:
        side = self.after or self.before
        assert side is not None
        return side.path


@dataclass(frozen=True)
class Step:
    """One landing against the one before it."""

    landing: Landing
    subject: str
    body: str
    changes: tuple[Change, ...]


def steps(repo: Repo, window: Window) -> tuple[Step, ...]:
    """The landings of a window, oldest first, with what each changes (as the accounted diff has it)."""
    commits = [landing.commit for landing in window.landings]
    pairs = "".join(f"{new} {old}\n" for old, new in zip([window.cutoff, *commits], commits, strict=False)).encode()
    told = ("diff-tree", "--stdin", "-r", *ACCOUNTED)
    raw = _records(repo.run(*told, "--raw", "-z", "--no-abbrev", data=pairs))
    patches = _patches(repo.run(*told, "-p", "-U0", "--inter-hunk-context=0", data=pairs))
    said = _messages(repo, window)
    return tuple(
        Step(x, *said[x.commit], tuple(_changes(raw.get(x.commit, b""), patches.get(x.commit, ()))))
        for x in window.landings
    )


def _messages(repo: Repo, window: Window) -> dict[str, tuple[str, str]]:
    out = repo.run("log", "--first-parent", "-z", "--format=%H%x01%s%x01%b", f"{window.cutoff}..{window.tip}")
    records = (r.split("\x01", 2) for r in out.decode("utf-8", "replace").split("\0") if r)
    return {commit: (subject, body) for commit, subject, body in records}


def _records(out: bytes) -> Mapping[str, bytes]:
    """The raw records of each commit."""
    found: dict[str, list[bytes]] = {}
    fields, commit = out.split(b"\0"), ""
    paths = 0
    for field in fields:
        if paths:
            paths -= 1
        elif field.startswith(b":"):
            paths = 2 if field.split(b" ")[4][:1] in b"RC" else 1
        else:
            commit = field.decode("ascii", "replace")
            continue
        found.setdefault(commit, []).append(field)
    return {commit: b"\0".join(each) + b"\0" for commit, each in found.items()}


def _patches(out: bytes) -> Mapping[str, Sequence[bytes]]:
    """The patch of each file, by commit. In a patch without context no other line looks like a commit's id."""
    parts = COMMIT.split(out)
    return {parts[i].decode(): SECTION.split(parts[i + 1])[1:] for i in range(1, len(parts), 2)}


def _changes(raw: bytes, sections: Sequence[bytes]) -> Iterator[Change]:
    at = 0
    for status, old, new in raw_records(raw):
        take = 2 if status[0] == "T" else 1
        hunks = patch_hunks(b"".join(sections[at : at + take]))
        yield Change(_side(*old), _side(*new), hunks)
        at += take


def _side(mode: int, oid: str, path: str) -> Side | None:
    return Side(os.fspath(path), mode, oid) if mode else None
