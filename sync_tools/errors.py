"""What a user's mistake or a broken environment looks like: what happened, where, and how to mend it.

The command line prints it in at most two lines and exits with 2; nothing has been changed by then.
"""


class SyncError(Exception):
    """A mistake that a person can mend. `where` names a file, a key or a revision; `fix` is an instruction."""

    def __init__(self, what: str, where: str, fix: str):
        super().__init__(what, where, fix)
        self.what, self.where, self.fix = what, where, fix

    def __str__(self) -> str:
        return f"{self.what} ({self.where}): {self.fix}" if self.where else f"{self.what}: {self.fix}"
