"""What a translation is: the text, the rules that were applied and where, and what was recognised but not translated."""

from dataclasses import dataclass

from sync_tools.translate.reasons import Reason


@dataclass(frozen=True, order=True)
class Application:
    """One use of a rule. Lines and columns are 1-based and those of the text that went in."""

    line: int
    column: int
    rule: str
    before: str
    after: str


@dataclass(frozen=True, order=True)
class Site:
    """A place that was recognised and could not be translated; `line`..`end_line` are the lines of its statement.

    What is said of words of a text (flags, modules, metrics) is always that they have no counterpart.
    """

    line: int
    column: int
    end_line: int
    what: str
    why: str
    reason: Reason = Reason.NO_COUNTERPART


@dataclass(frozen=True)
class Translation:
    data: bytes
    applications: tuple[Application, ...] = ()
    unresolved: tuple[Site, ...] = ()
