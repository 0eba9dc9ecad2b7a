"""The errors of a run: what went wrong and how to mend it, in a line or two."""

import errno
from typing import Any, TypeVar

E = TypeVar("E", bound=type[BaseException])
_MACHINE = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO, errno.EMFILE}
)
"""What is wrong with the machine, not with the program."""


def travels(error: E) -> E:
    """Class decorator: the error crosses process borders unchanged, whatever its `__init__` takes.

    Python makes an error again from its `args`, which is the message alone where `__init__` composes it.
    """
    error.__reduce__ = lambda self: (_made_again, (type(self), self.args, vars(self)))
    return error


def _made_again(kind: type[BaseException], args: tuple[Any, ...], state: dict[str, Any]) -> BaseException:
    error = kind.__new__(kind, *args)
    error.args = args
    vars(error).update(state)
    return error


@travels
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


def first_line(error: BaseException) -> str:
    """The first line of its words, or its kind where it has none."""
    return next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)


def says_what_is_wrong(error: BaseException) -> bool:
    """Whether the error's words are meant for the user, as all of this package are; any other is shown with its trace."""
    if isinstance(error, OSError):
        return error.errno in _MACHINE
    return isinstance(error, RunError) or type(error).__module__.startswith("vime.")
