"""Git's object store in one process: read through a `git cat-file` that stays, written as loose objects.

Objects never change, so that what was read once is remembered; a stack of ports reads and writes the same few again and again.
"""

import os
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sized
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Protocol, TypeVar

from gitdb import IStream, LooseObjectDB

from sync_tools.modes import EXECUTABLE, FOLDER, GITLINK, REGULAR, SYMLINK

T = TypeVar("T", bound=Sized)
MOST, LARGE = 8192, 1_000_000

Entry = tuple[int, str]
"""Mode and object id."""

Level = Mapping[bytes, Entry]
"""The names of one folder, with what they are."""


class Process(Protocol):
    """What runs `git cat-file --batch`; it ends when it is forgotten."""

    proc: subprocess.Popen[bytes]


class Missing(Exception):
    """The store has no such object."""


@dataclass(frozen=True)
class Objects:
    """The objects of the repository whose store is `folder`; `start` runs its `git cat-file --batch`."""

    folder: Path
    start: Callable[[], Process]
    _running: list[Process] = field(default_factory=list, repr=False)
    _known: dict[str, bytes] = field(default_factory=dict, repr=False)
    _levels: dict[str, Level] = field(default_factory=dict, repr=False)

    def read(self, name: str) -> bytes:
        """The content of an object by its id. Raises Missing."""
        found = self._known.get(name)
        return found if found is not None else _kept(self._known, name, self._asked(name)[1])

    def root(self, commit: str) -> str:
        """The id of a commit's tree (or of the tree that `commit` is)."""
        return self._asked(f"{commit}^{{tree}}")[0]

    def level(self, tree: str) -> Level:
        """The entries of one tree object."""
        found = self._levels.get(tree)
        return found if found is not None else _kept(self._levels, tree, dict(_entries(self._asked(tree)[1])))

    def files(self, tree: str, prefix: bytes = b"") -> dict[str, Entry]:
        """Every file below a tree, by its path, in git's order."""
        found: dict[str, Entry] = {}
        for name, (mode, oid) in self.level(tree).items():
            if mode == FOLDER:
                found |= self.files(oid, prefix + name + b"/")
            else:
                found[os.fsdecode(prefix + name)] = mode, oid
        return found

    def write(self, kind: str, data: bytes) -> str:
        """Store an object; its id."""
        stored = LooseObjectDB(str(self.folder)).store(IStream(kind.encode(), len(data), BytesIO(data)))
        return stored.hexsha.decode()

    def write_level(self, level: Level) -> str:
        """Store a tree object; its id. Git sorts a folder as if its name ended in a slash."""
        ordered = sorted(level.items(), key=lambda item: item[0] + b"/" * (item[1][0] == FOLDER))
        data = b"".join(b"%o %b\0" % (mode, name) + bytes.fromhex(oid) for name, (mode, oid) in ordered)
        oid = self.write("tree", data)
        _kept(self._levels, oid, dict(ordered))
        return oid

    def _asked(self, name: str) -> tuple[str, bytes]:
        if not self._running:
            self._running.append(self.start())
        process = self._running[0].proc
        assert process.stdin and process.stdout
        process.stdin.write(name.encode() + b"\n")
        process.stdin.flush()
        head = process.stdout.readline().split()
        if len(head) != 3:
            raise Missing(name)
        data = process.stdout.read(int(head[2]))
        process.stdout.read(1)
        return head[0].decode(), data


def _kept(known: dict[str, T], name: str, value: T) -> T:
    """Remember a value; the one that was remembered first goes when there are too many."""
    if len(value) < LARGE:
        known[name] = value
        if len(known) > MOST:
            del known[next(iter(known))]
    return value


def _entries(data: bytes) -> Iterator[tuple[bytes, Entry]]:
    at = 0
    while at < len(data):
        space = data.index(b" ", at)
        end = data.index(b"\0", space)
        yield data[space + 1 : end], (_mode(int(data[at:space], 8)), data[end + 1 : end + 21].hex())
        at = end + 21


def _mode(raw: int) -> int:
    """The mode as git reads it: old trees hold others."""
    kind = raw & 0o170000
    if kind == REGULAR & 0o170000:
        return EXECUTABLE if raw & 0o100 else REGULAR
    return kind if kind in (SYMLINK, FOLDER) else GITLINK
