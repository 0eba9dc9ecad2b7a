"""The errors of a run: what went wrong and how to mend it, in a line or two."""


class RunError(Exception):
    """Something that ends a run, or a step of it, and that its user can act on. It crosses process borders unchanged."""

    def __init__(self, what: str, fix: str = "") -> None:
        super().__init__(what, fix)
        self.what, self.fix = what, fix

    def __str__(self) -> str:
        return f"{self.what}\n  {self.fix}" if self.fix else self.what


class RankDied(RunError):
    """A rank of the trainer ended."""


class Interrupted(RunError):
    """The user or the system asked the run to stop."""


def says_what_is_wrong(error: BaseException) -> bool:
    """Whether the error is one of this package's, whose words are meant for its user; any other is shown with its trace."""
    return isinstance(error, RunError) or type(error).__module__.startswith("vime.")
