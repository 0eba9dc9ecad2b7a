"""The budget of leftovers: how many of upstream's names may stand where, and why (`residue.toml`)."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from pydantic import Field

from sync_tools.config import Config
from sync_tools.configfields import Day, Glob, Section
from sync_tools.configread import parse_as
from sync_tools.policy import matches
from sync_tools.tree import Tree, text
from sync_tools.verify.leftovers import Leftover


class Allowed(Section):
    """How many leftovers may stand in the files that `path` (a glob) names. `word`: only words that hold it, in any
    casing. The first row that matches a leftover answers for it; after `until` the row holds no more."""

    path: Glob
    word: str = ""
    count: int = Field(ge=1)
    reason: str = Field(min_length=3)
    who: str = ""
    until: Day | None = None

    def reaches(self, path: str) -> bool:
        return matches(self.path, path)

    def answers_for(self, left: Leftover) -> bool:
        return self.word.lower() in left.word.lower() and self.reaches(left.path)

    def ran_out(self, today: date) -> bool:
        return self.until is not None and self.until < today.isoformat()

    @property
    def name(self) -> str:
        """The row in words."""
        return f"{self.path} ({self.word})" if self.word else self.path


class Budget(Section):
    """The rows of `residue.toml`, in its order."""

    schema_: int = Field(1, alias="schema", ge=1, le=1)
    leftover: tuple[Allowed, ...] = ()


@dataclass(frozen=True)
class Use:
    """A row with the leftovers that it answers for; one that ran out allows none."""

    row: Allowed
    found: tuple[Leftover, ...] = ()
    ran_out: bool = False

    @property
    def over(self) -> int:
        """How many more there are than it allows."""
        return max(len(self.found) - (0 if self.ran_out else self.row.count), 0)

    @property
    def room(self) -> int:
        """How many more it allows than there are."""
        return max(self.row.count - len(self.found), 0)


@dataclass(frozen=True)
class Account:
    """Leftovers against a budget: its rows, in order, and what none of them answers for."""

    uses: tuple[Use, ...] = ()
    unexplained: tuple[Leftover, ...] = ()


def read(tree: Tree, config: Config) -> Budget:
    """The budget of a fork; an empty one where the file is not there. Raises SyncError that names line and key."""
    content = text(tree, config.residue)
    if content is None:
        return Budget()
    return parse_as(Budget, content, config.residue, "see docs/configuration.md, the budget of leftovers")


def account(found: Iterable[Leftover], budget: Budget, today: date | None = None) -> Account:
    """Each leftover under the first row that answers for it. Without a day no row runs out."""
    taken: list[list[Leftover]] = [[] for _ in budget.leftover]
    unexplained = []
    for left in found:
        at = next((n for n, row in enumerate(budget.leftover) if row.answers_for(left)), None)
        (unexplained if at is None else taken[at]).append(left)
    uses = (
        Use(row, tuple(sorted(each)), today is not None and row.ran_out(today))
        for row, each in zip(budget.leftover, taken, strict=True)
    )
    return Account(tuple(uses), tuple(sorted(unexplained)))
