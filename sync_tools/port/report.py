"""One port as the object that other programs read."""

from typing import Any

from sync_tools.port.pipeline import Port


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
        "ci": delta.rows(),
        "checks": {
            name: {"result": check.result, "findings": [_finding(f) for f in check.findings]}
            for name, check in port.checks.items()
        },
    }


def _finding(finding: Any) -> dict[str, Any]:
    names = ("path", "line", "rule", "message", "fix", "origin")
    return {name: getattr(finding, name) for name in names}
