"""Where a run of ports works, and what comes of it."""

from dataclasses import dataclass
from datetime import date
from pathlib import Path

from sync_tools.config import Config
from sync_tools.gitio import Repo
from sync_tools.port.fork import Fork
from sync_tools.port.ported import Port
from sync_tools.upstream.changeset import Person

STATUSES = ("failed", "conflicts", "unresolved", "present", "clean")


@dataclass(frozen=True)
class Session:
    """What came of a run. `branch` is None when none moved; `worktree` is where conflicts wait; `window` names the ends
    of a window."""

    ports: tuple[Port, ...]
    ledgers: tuple[str, ...]
    branch: str | None
    worktree: Path | None
    seconds: float
    window: str = ""

    @property
    def status(self) -> str:
        """The worst of its ports'."""
        return min((p.status for p in self.ports), key=STATUSES.index, default="clean")


@dataclass(frozen=True)
class Places:
    """The repositories and the configuration of a run, and the day by which decisions and overlays run out (None: none
    does)."""

    config: Config
    upstream: Repo
    fork: Fork
    today: date | None = None


@dataclass(frozen=True)
class Message:
    """The message of a mechanical commit, and whose change it is; without an author it is the committer's."""

    text: str
    author: Person | None
