"""A diff as git prints it, raw records and then a patch without context, as values."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from sync_tools.upstream.changeset import Hunk
from sync_tools.upstream.shift import Shift

ACCOUNTED = ("-M50%", "--diff-algorithm=myers", "--no-ext-diff", "--no-textconv", "--no-color", "--indent-heuristic")
"""How the diff is made whose every line is accounted for."""
BARE = ("-U0", "--inter-hunk-context=0", *ACCOUNTED)
PRINTED = ("--raw", "--no-abbrev", "-p", *BARE)
"""What a diff is printed with, for `file_diffs` to read it."""

# A changed line begins with `+`, `-` or a backslash: so these begin only a header.
HUNK = re.compile(rb"\n@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
SECTION = b"\ndiff --git "
QUOTED = re.compile(rb'\\([abtnvfr"\\]|[0-7]{3})')
ESCAPES = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}


class Side(NamedTuple):
    """A file on one side of a change, by its object."""

    path: str
    mode: int
    oid: str


@dataclass(frozen=True)
class FileDiff:
    """One path of a diff; a side is None where the file is not there. `status` is git's letter, with the similarity of a
    file that moved. Where only paths were asked for there are no hunks and no patch."""

    status: str
    before: Side | None
    after: Side | None
    hunks: tuple[Hunk, ...] = ()
    patch: bytes = b""

    @property
    def old(self) -> str | None:
        return self.before and self.before.path

    @property
    def new(self) -> str | None:
        return self.after and self.after.path

    @property
    def path(self) -> str:
        """The path after the change, or the old one of a deleted file."""
        return self.new or self.old or ""

    @property
    def binary(self) -> bool:
        """Whether git shows no lines of it."""
        return b"\nBinary files " in _head(self.patch)

    @cached_property
    def shift(self) -> Shift:
        """How its lines shift."""
        return Shift(self.hunks)

    @cached_property
    def changed(self) -> tuple[bytes, ...]:
        """The removed and added lines, with their signs."""
        body = self.patch[len(_head(self.patch)) :]
        return tuple(line for line in body.split(b"\n") if line[:1] in (b"+", b"-"))


def file_diffs(printed: bytes) -> Iterator[FileDiff]:
    """The files of one diff, in git's order; with raw records alone, their paths."""
    raw, *sections = (b"\n" + printed).split(SECTION)
    at = 0
    for line in raw.split(b"\n"):
        if line.startswith(b":"):
            told, *paths = line.split(b"\t")
            old_mode, new_mode, old_oid, new_oid, status = told[1:].decode("ascii").split()
            taken = sections[at : at + (2 if status[0] == "T" else 1)]
            at += len(taken)
            before, after = _side(paths[0], old_mode, old_oid), _side(paths[-1], new_mode, new_oid)
            yield FileDiff(status, before, after, tuple(h for s in taken for h in hunks_of(s)), b"\n".join(taken))


def hunks_of(patch: bytes) -> Iterator[Hunk]:
    """The hunks in a patch of one file."""
    for found in HUNK.finditer(patch):
        yield Hunk(*(1 if n is None else int(n) for n in found.groups()))


def _head(patch: bytes) -> bytes:
    return patch.partition(b"\n@@ ")[0]


def _side(path: bytes, mode: str, oid: str) -> Side | None:
    return Side(_unquoted(path), int(mode, 8), oid) if int(mode, 8) else None


def _unquoted(shown: bytes) -> str:
    """A path as git prints it: in quotes and escaped where it holds what a line cannot."""
    if shown[:1] == b'"' and shown[-1:] == b'"':
        shown = QUOTED.sub(
            lambda m: ESCAPES.get(m[1]) or (bytes([int(m[1], 8)]) if m[1].isdigit() else m[1]), shown[1:-1]
        )
    return shown.decode("utf-8", "surrogateescape")
