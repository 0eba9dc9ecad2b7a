"""One port as the object that other programs read, and as the lines that people read."""

from collections.abc import Iterator
from typing import Any

from sync_tools.plural import counted
from sync_tools.policy import OURS
from sync_tools.port.ported import Port
from sync_tools.verify.model import Finding


def as_object(port: Port, ledger_path: str) -> dict[str, Any]:
    """The object of `sync port --json`, one a pull request."""
    ledger, delta = port.ledger, port.workflows
    return {
        "pr": port.changes.pr,
        "upstream_commit": port.changes.commit,
        "other_landings": list(port.changes.other_landings),
        "status": port.status,
        "ledger": ledger_path,
        "entries": ledger.counts,
        "lines": {"added": ledger.added, "removed": ledger.removed, "accounted": ledger.accounted},
        "rules": {use.rule: use.count for use in ledger.rules if use.count},
        "unresolved": [{"path": u.path, "line": u.line, "what": u.what, "why": u.why} for u in port.unresolved],
        "conflicts": [{"path": path, "symbol": symbol} for path, symbol in port.conflicts],
        "absent": list(port.absent),
        "overdue": [{"path": e.downstream.path, "entry": e.id, "why": e.reason} for e in port.overdue],
        "ci": delta.rows(),
        "checks": {
            name: {"result": check.result, "findings": [_finding(f) for f in check.findings]}
            for name, check in port.checks.items()
        },
    }


def _finding(finding: Finding) -> dict[str, Any]:
    names = ("path", "line", "rule", "message", "fix", "origin")
    return {name: getattr(finding, name) for name in names}


COLOURS = {"clean": "green", "present": "green", "unresolved": "yellow", "conflicts": "red", "failed": "red"}


def lines(port: Port) -> Iterator[tuple[str, str]]:
    """(style, text) of each line that tells a port."""
    ledger = port.ledger
    yield COLOURS[port.status], f"{ledger.upstream.ref}  {ledger.upstream.title}: {port.status}"
    counts = ", ".join(f"{count} {op}" for op, count in ledger.counts.items())
    for commit in port.changes.other_landings:
        yield "yellow", f"  landed before as {commit[:12]}, which is another port: --commit {commit[:12]}"
    yield "", f"  ledger: {counts}; {ledger.accounted} of {ledger.added + ledger.removed} lines accounted for"
    for row in port.workflows.registrations:
        yield "", f"  CI: {row.change} {row.test_file} in {row.job}" + (f" ({row.why})" if row.why else "")
    for name, why in (left for outcome in port.outcomes for left in outcome.unplaced):
        yield "yellow", f"  CI: no place for {name}: {why}"
    for path, symbol in port.conflicts:
        yield "red", f"  conflict: {path} {symbol}"
    for site in port.unresolved:
        yield "yellow", f"  unresolved: {site.path}:{site.line} {site.what}: {site.why}"
    for outcome in port.outcomes:
        if outcome.disposition in ("absent", "present", "dropped", "owned") and outcome.reason:
            yield (
                "yellow" if outcome.disposition == "absent" else "",
                f"  {outcome.disposition}: {outcome.path}: {outcome.reason}",
            )
    waiting = sum(outcome.disposition == "owned" and outcome.reason != OURS for outcome in port.outcomes)
    if waiting and not port.conflicts:
        number = port.changes.pr or port.changes.commit[:12]
        yield "yellow", f"  {counted(waiting, 'worksheet')} to read: vime-sync ledger worksheet {number}"
    for e in port.overdue:
        yield "yellow", f"  ran out, decide again: {e.downstream.path} {e.id} {e.op}: {e.reason}"
    yield from _findings(port)


def _findings(port: Port) -> Iterator[tuple[str, str]]:
    """What the checks found that the port brought; markers of conflicts that are told already are not told again."""
    waiting = {path for path, _ in port.conflicts}
    for name, check in sorted(port.checks.items()):
        found = [f for f in check.findings if f.origin == "introduced" and f.path not in waiting]
        if check.result == "not run" and found:
            yield "", f"  pending: {name}, waits for {check.reason}: {', '.join(f.path for f in found)}"
            continue
        for finding in found:
            yield "red" if check.gating else "yellow", f"  {name}: {finding.path}:{finding.line} {finding.message}"
        if check.result == "failed" and not check.findings:
            yield "red", f"  {name}: {check.reason}"
