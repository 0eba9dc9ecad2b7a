"""What the fork's history says of paths that it no longer has, in one run of git."""

import os
from typing import NamedTuple

from sync_tools.gitio import Repo


class Removal(NamedTuple):
    """The last commit that removed a path, and where the file went if that was a rename."""

    commit: str
    moved: str | None


def removals(fork: Repo, base: str) -> dict[str, Removal]:
    """By path, for every path that a commit up to `base` removed or renamed."""
    out = fork.run("log", "-z", "--format=%x01%H", "--name-status", "-M50%", "--diff-filter=DR", base)
    found: dict[str, Removal] = {}
    commit, fields = "", iter(out.split(b"\0"))
    for field in fields:
        word = field.lstrip(b"\n")
        if word.startswith(b"\x01"):
            commit = word[1:41].decode()
        elif word.startswith(b"R"):
            old, new = os.fsdecode(next(fields)), os.fsdecode(next(fields))
            found.setdefault(old, Removal(commit, new))
        elif word == b"D":
            found.setdefault(os.fsdecode(next(fields)), Removal(commit, None))
    return found
