"""Evidence that a port works: what a run's log shows, and for which tree it holds."""

import hashlib
from collections.abc import Iterable
from pathlib import PurePath

from sync_tools.errors import SyncError
from sync_tools.ledger.fields import Level
from sync_tools.ledger.figures import read
from sync_tools.ledger.model import Ledger
from sync_tools.ledger.proof import Evidence

LEVELS: tuple[Level, ...] = Level.__args__  # type: ignore[attr-defined]


def gather(content: bytes, log: str, level: str, commit: str, tree: str, machine: str, command: str) -> Evidence:
    """What a log shows. `tree` is `code_tree` of `commit`. Raises SyncError for an unknown level or a log without figures."""
    if level not in LEVELS:
        raise SyncError(f"no level {level[:20]!r}", "--level", f"one of {', '.join(LEVELS)}")
    figures = read(content.decode("utf-8", "replace"), level)
    if not figures.values:
        fix = "JSON lines, CSV, key=value lines or a test summary, with steps, rewards, logprobs, losses"
        raise SyncError("no figures in this log", log, fix)
    return Evidence(
        level=level,
        commit=commit,
        tree=tree,
        machine=machine,
        command=command,
        log=PurePath(log).name,
        log_digest=hashlib.sha256(content).hexdigest(),
        figures=figures.values,
        warnings=figures.warnings,
    )


def attach(ledger: Ledger, evidence: Evidence) -> Ledger:
    """The ledger with one more piece of evidence; the same log at the same level replaces what it gave before."""
    key = (evidence.level, evidence.log_digest)
    kept = [e for e in ledger.verification.evidence if (e.level, e.log_digest) != key]
    ordered = tuple(sorted([*kept, evidence], key=lambda e: (LEVELS.index(e.level), e.log, e.log_digest)))
    return ledger.model_copy(update={"verification": ledger.verification.model_copy(update={"evidence": ordered})})


def code_tree(listing: Iterable[tuple[str, str]], ledgers: str) -> str:
    """A name (40 hex) for the code of a tree, from its (path, object id) pairs: ledgers are no code, or the evidence
    would go stale by being written down."""
    kept = sorted(f"{path}\0{oid}" for path, oid in listing if not path.startswith(ledgers.rstrip("/") + "/"))
    return hashlib.sha256("\n".join(kept).encode("utf-8", "surrogateescape")).hexdigest()[:40]


def stale(ledger: Ledger, tree: str) -> tuple[Evidence, ...]:
    """The evidence that speaks of other code than that of `tree`."""
    return tuple(e for e in ledger.verification.evidence if e.tree != tree)
