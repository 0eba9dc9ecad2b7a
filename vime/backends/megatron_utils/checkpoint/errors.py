"""What can be wrong with a checkpoint."""

from vime.errors import travels


@travels
class CheckpointError(RuntimeError):
    """A checkpoint that cannot be written or read: where, what, and how to fix it."""

    def __init__(self, where: str, what: str, fix: str) -> None:
        super().__init__(f"{where}: {what}. {fix[:1].upper()}{fix[1:]}.")
        self.where, self.what, self.fix = where, what, fix
