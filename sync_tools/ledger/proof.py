"""What checks and runs said of a port: kept in its ledger, apart from what is the same on every run."""

from typing import Literal

from sync_tools.ledger.fields import Commit, Count, Hex64, Level, Model


class Finding(Model):
    """A finding of a check, as the ledger keeps it."""

    rule: str
    path: str
    line: Count
    what: str
    standing: Literal["introduced", "inherited"]


class CheckRun(Model):
    """A check of the port. `command` repeats it; `waits_for` says what a check that was not run needs."""

    name: str
    result: Literal["passed", "failed", "not run"]
    findings: tuple[Finding, ...] = ()
    command: str = ""
    ran_on: str = ""
    waits_for: str = ""


class Evidence(Model):
    """What a run showed. `tree` is the git tree of `commit`: another tree makes the evidence stale. `warnings` are the
    figures that show nothing (degenerate ones)."""

    level: Level
    commit: Commit
    tree: Commit
    machine: str
    command: str
    log: str
    log_digest: Hex64
    figures: dict[str, str]
    warnings: tuple[str, ...] = ()


class Verification(Model):
    """What checks and runs said of a port: kept apart from what is the same on every run."""

    checks: tuple[CheckRun, ...] = ()
    evidence: tuple[Evidence, ...] = ()
