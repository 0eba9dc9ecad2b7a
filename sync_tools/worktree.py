"""A user's checkout as a tree: the files as they are on disk, of those that git tracks or could track."""

import os
import stat
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from sync_tools.gitio import Repo
from sync_tools.modes import EXECUTABLE, REGULAR, SYMLINK
from sync_tools.paths import safe
from sync_tools.tree import Blob


@dataclass(frozen=True)
class WorkTree:
    """Links are read as links, and a path through one is no file of this tree."""

    repo: Repo

    @cached_property
    def _paths(self) -> frozenset[str]:
        out = self.repo.run("ls-files", "-z", "--cached", "--others", "--exclude-standard")
        return frozenset(p for p in map(os.fsdecode, out.split(b"\0")) if p and self._kind(p))

    def paths(self) -> frozenset[str]:
        return self._paths

    def blob(self, path: str) -> Blob | None:
        mode = self._kind(safe(path, "the work tree"))
        if not mode:
            return None
        place = self._place(path)
        data = os.fsencode(place.readlink()) if mode == SYMLINK else place.read_bytes()
        return Blob(data, mode)

    def _place(self, path: str) -> Path:
        assert self.repo.work_tree
        return self.repo.work_tree / path

    def _kind(self, path: str) -> int:
        """The git mode of a path, 0 where there is no file."""
        assert self.repo.work_tree
        place = self.repo.work_tree
        for part in path.split("/")[:-1]:
            place = place / part
            if place.is_symlink():
                return 0
        try:
            mode = os.lstat(self.repo.work_tree / path).st_mode
        except OSError:
            return 0
        if stat.S_ISLNK(mode):
            return SYMLINK
        return (EXECUTABLE if mode & stat.S_IXUSR else REGULAR) if stat.S_ISREG(mode) else 0
