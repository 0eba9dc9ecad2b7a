"""The fork as the plan of a window looks at it: which paths it has, and which of them people edited."""

import os
from dataclasses import dataclass

from sync_tools.config import Config
from sync_tools.gitio import Repo
from sync_tools.translate.paths import downstream_path


@dataclass(frozen=True)
class Side:
    """`edited` are paths that a commit touches which no port made; the first commit of an imported fork is a port."""

    paths: frozenset[str]
    edited: frozenset[str]
    config: Config

    def place(self, path: str) -> str:
        """Where upstream's path lives in the fork."""
        return downstream_path(self.config, path)


def side(fork: Repo, base: str, config: Config) -> Side:
    """What commit `base` of the fork shows."""
    tree = fork.tree(base)
    return Side(tree.paths(), _edited(fork, base) & tree.paths(), config)


def _edited(fork: Repo, base: str) -> frozenset[str]:
    """The paths of commits without an `Upstream-Commit` trailer, merges aside."""
    trailer = "%(trailers:key=Upstream-Commit,valueonly,separator=%x2c)"
    out = fork.run("log", "--no-merges", "--name-only", "--no-renames", "-z", f"--format=%x01{trailer}%x02", base, "--")
    found: set[str] = set()
    for record in out.split(b"\x01")[1:]:
        named, _, paths = record.partition(b"\x02")
        if not named.strip():
            found |= {os.fsdecode(path.strip(b"\n")) for path in paths.split(b"\0") if path.strip(b"\n")}
    return frozenset(found)
