"""Run the checks."""

from sync_tools.verify.model import Check, Context
from sync_tools.verify.origin import with_origin
from sync_tools.verify.table import CHECKS, Row


def run(context: Context) -> dict[str, Check]:
    """Every check by its name. A check that stops on an error is itself `failed`, with the reason; the others go on."""
    return {row.name: _run(row, context) for row in CHECKS}


def gate(checks: dict[str, Check]) -> bool:
    """Whether no gating check failed."""
    return not any(check.gating and check.result == "failed" for check in checks.values())


def _run(row: Row, context: Context) -> Check:
    if row.engine and context.config.engine == "same":
        return Check(row.name, "not run", gating=row.gating, reason="the fork keeps upstream's engine")
    try:
        findings = with_origin(context, row.run, list(row.run(context)), row.upstream)
    except Exception as e:
        # Hostile content must not stop the port: the check's own error is its result.
        return Check(row.name, "failed", gating=row.gating, reason=f"the check stopped: {type(e).__name__}: {e}")
    introduced = any(f.origin == "introduced" for f in findings)
    return Check(row.name, "failed" if introduced else "passed", findings, row.gating)
