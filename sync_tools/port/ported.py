"""What came of one change, as values: its files with their conflicts and checks, and its ledger."""

from collections.abc import Mapping
from dataclasses import dataclass

from sync_tools.ledger.model import Entry, Ledger
from sync_tools.outcome import FileOutcome
from sync_tools.port.arrange import Unresolved
from sync_tools.port.ci import Workflows
from sync_tools.port.edits import Edits
from sync_tools.port.paused import Stages
from sync_tools.tree import Blob
from sync_tools.upstream.changeset import ChangeSet
from sync_tools.verify.model import Check


@dataclass(frozen=True)
class Files:
    """What came of a change's files. `mechanical` and `final` are edits of the base tree, ledgers left out."""

    outcomes: tuple[FileOutcome, ...]
    workflows: Workflows
    checks: Mapping[str, Check]
    mechanical: Edits
    final: Edits
    unresolved: tuple[Unresolved, ...]

    @property
    def conflicts(self) -> tuple[tuple[str, str], ...]:
        """(path, symbol) of every place where both sides changed."""
        files = [(o.path, c.symbol) for o in self.outcomes if o.merged for c in o.merged.conflicts]
        return tuple(files + [(self.workflows.template, c.symbol) for c in self.workflows.conflicts])

    @property
    def absent(self) -> tuple[str, ...]:
        return tuple(o.path for o in self.outcomes if o.disposition == "absent")

    @property
    def stages(self) -> dict[str, Stages]:
        """The three sides of every path in conflict."""
        found = {o.path: _stages(o) for o in self.outcomes if o.merged and o.merged.conflicts}
        return {**found, **(self.workflows.stages if self.workflows.conflicts else {})}

    @property
    def marked(self) -> frozenset[str]:
        """The paths with conflict markers in them."""
        return frozenset(
            o.path for o in self.outcomes if o.merged and o.merged.conflicts and b"<<<<<<<" in o.merged.final
        ) | frozenset(self.workflows.stages)

    @property
    def failed(self) -> bool:
        """A gating check found something that the port introduced."""
        return any(c.gating and c.result == "failed" for c in self.checks.values())


@dataclass(frozen=True)
class Port:
    """Everything that came of one change; `overdue` are the entries whose decision or overlay has run out."""

    changes: ChangeSet
    files: Files
    ledger: Ledger
    overdue: tuple[Entry, ...] = ()
    seconds: float = 0.0

    @property
    def outcomes(self) -> tuple[FileOutcome, ...]:
        return self.files.outcomes

    @property
    def workflows(self) -> Workflows:
        return self.files.workflows

    @property
    def checks(self) -> Mapping[str, Check]:
        return self.files.checks

    @property
    def mechanical(self) -> Edits:
        return self.files.mechanical

    @property
    def final(self) -> Edits:
        return self.files.final

    @property
    def unresolved(self) -> tuple[Unresolved, ...]:
        return self.files.unresolved

    @property
    def conflicts(self) -> tuple[tuple[str, str], ...]:
        return self.files.conflicts

    @property
    def absent(self) -> tuple[str, ...]:
        return self.files.absent

    @property
    def stages(self) -> dict[str, Stages]:
        return self.files.stages

    @property
    def status(self) -> str:
        """failed, conflicts, unresolved, present or clean; the worst that holds."""
        if self.files.failed and not self.conflicts:
            return "failed"
        if self.conflicts:
            return "conflicts"
        if self.unresolved or self.ledger.open or self.overdue:
            return "unresolved"
        return "present" if not self.final else "clean"


def _stages(outcome: FileOutcome) -> Stages:
    change = outcome.change
    base = Blob(outcome.before.data, change.before.mode) if outcome.before and change.before else None
    theirs = Blob(outcome.after.data, change.after.mode) if outcome.after and change.after else None
    return Stages(base, outcome.ours, theirs)
