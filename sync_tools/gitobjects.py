"""Git's object store in one process: read through a `git cat-file` that stays, written as loose objects.

Objects never change, so that what was read once is remembered; a stack of ports reads and writes the same few again and again.
"""

import os
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Protocol, TypeVar

from gitdb import IStream, LooseObjectDB

from sync_tools.modes import EXECUTABLE, FOLDER, GITLINK, REGULAR, SYMLINK

T = TypeVar("T", bound=Sized)
MOST, LARGE = 8192, 1_000_000
AHEAD = 256  # so many names fit into a pipe before git has read any

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
        """Store a tree object; its id."""
        data = level_data(level)
        oid = self.write("tree", data)
        _kept(self._levels, oid, dict(_entries(data)))
        return oid

    def stream(self, names: Sequence[str]) -> Iterator[bytes]:
        """The contents of many objects, each as soon as git has it: git reads ahead. They are not remembered, and no
        other object is asked for before the last of them is read. Raises Missing."""
        left = len(names)
        try:
            for at in range(0, len(names), AHEAD):
                asked = names[at : at + AHEAD]
                self._ask(*asked)
                for name in asked:
                    data = self._answer(name)[1]
                    left -= 1
                    yield data
        finally:
            if left:
                self._running.clear()  # its next answers are to questions that nobody asks any more

    def _asked(self, name: str) -> tuple[str, bytes]:
        self._ask(name)
        return self._answer(name)

    def _ask(self, *names: str) -> None:
        if not self._running:
            self._running.append(self.start())
        stdin = self._running[0].proc.stdin
        assert stdin
        stdin.write("".join(f"{name}\n" for name in names).encode())
        stdin.flush()

    def _answer(self, name: str) -> tuple[str, bytes]:
        stdout = self._running[0].proc.stdout
        assert stdout
        head = stdout.readline().split()
        if len(head) != 3:
            raise Missing(name)
        data = stdout.read(int(head[2]))
        stdout.read(1)
        return head[0].decode(), data


def _kept(known: dict[str, T], name: str, value: T) -> T:
    """Remember a value; the one that was remembered first goes when there are too many."""
    if len(value) < LARGE:
        known[name] = value
        if len(known) > MOST:
            del known[next(iter(known))]
    return value


def level_data(level: Level) -> bytes:
    """The content of a tree object. Git sorts a folder as if its name ended in a slash."""
    ordered = sorted(level.items(), key=lambda item: item[0] + b"/" * (item[1][0] == FOLDER))
    return b"".join(b"%o %b\0" % (mode, name) + bytes.fromhex(oid) for name, (mode, oid) in ordered)


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
