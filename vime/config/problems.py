"""What is wrong with a configuration: each problem says what, where, and how to mend it, in one line."""

from collections.abc import Sequence
from dataclasses import dataclass

from vime.errors import travels


@dataclass(frozen=True)
class Problem:
    """One thing to mend."""

    where: str
    what: str
    fix: str
    option: str = ""
    """The option whose value could not be read, so that nothing more is said about it."""
    warning: bool = False
    """Worth saying, and no reason to stop."""

    def __str__(self) -> str:
        return " ".join(f"{self.where}: {self.what}; {self.fix}".split())


@travels
class ConfigError(Exception):
    """A configuration that cannot be used, with every problem that was found."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))
