"""What a user's mistake or a broken environment looks like: what happened, where, and how to mend it.

The command line prints it in at most two lines and exits with 2; nothing has been changed by then.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class SyncError(Exception):
    """A mistake that a person can mend. `where` names a file, a key or a revision; `fix` is an instruction."""

    what: str
    where: str
    fix: str

    def __str__(self) -> str:
        return f"{self.what} ({self.where}): {self.fix}" if self.where else f"{self.what}: {self.fix}"
