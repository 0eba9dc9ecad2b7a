"""Run the checks."""

from collections.abc import Callable

from sync_tools.errors import SyncError
from sync_tools.verify.checks import tests
from sync_tools.verify.model import Check, Context
from sync_tools.verify.origin import with_origin
from sync_tools.verify.table import CHECKS, Row


def run(context: Context) -> dict[str, Check]:
    """Every check by its name. A check that stops on an error is itself `failed`, with the reason; the others go on."""
    checks = {row.name: _run(row, context) for row in CHECKS}
    return checks | {tests.NAME: _guarded(tests.NAME, tests.GATING, lambda: tests.tests(context))}


def gate(checks: dict[str, Check]) -> bool:
    """Whether no gating check failed."""
    return not any(check.gating and check.result == "failed" for check in checks.values())


def _run(row: Row, context: Context) -> Check:
    if row.engine and context.config.engine == "same":
        return Check(row.name, "not run", gating=row.gating, reason="the fork keeps upstream's engine")
    return _guarded(row.name, row.gating, lambda: _judged(row, context))


def _judged(row: Row, context: Context) -> Check:
    findings = with_origin(context, row.run, list(row.run(context)), row.reference)
    introduced = any(f.origin == "introduced" for f in findings)
    return Check(row.name, "failed" if introduced else "passed", findings, row.gating)


def _guarded(name: str, gating: bool, run_check: Callable[[], Check]) -> Check:
    """Nothing that a check meets stops the port: its error is its result."""
    try:
        return run_check()
    except SyncError as e:
        return Check(name, "failed", gating=gating, reason=str(e))
    except Exception as e:
        return Check(name, "failed", gating=gating, reason=f"the check stopped: {type(e).__name__}: {e}")
