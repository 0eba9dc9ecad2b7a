"""What was verified, as Markdown: what failed, what nobody ran yet, what was found; then, in one line, what passed."""

from collections import Counter
from collections.abc import Sequence

from sync_tools.ledger.escape import code, prose, words
from sync_tools.ledger.model import Ledger
from sync_tools.ledger.proof import CheckRun, Evidence
from sync_tools.ledger.tables import NONE
from sync_tools.plural import counted


def verified(ledger: Ledger) -> str:
    """Checks and evidence. Findings that the port introduced are listed, inherited ones counted."""
    repo, checks = ledger.upstream.repo, ledger.verification.checks
    items = [_failed(c, repo) for c in checks if c.result == "failed"]
    items += [item for c in checks if c.result == "not run" for item in _pending(c, repo)]
    items += [_found(c, repo) for c in checks if c.result != "not run" and _introduced(c)]
    items += [_evidence(e, repo) for e in ledger.verification.evidence]
    passed = [code(c.name) for c in checks if c.result == "passed"]
    items += [f"- passed: {', '.join(passed)}{_how(checks)}"] if passed else []
    inherited = Counter({c.name: _inherited(c) for c in checks if _inherited(c)})
    if inherited:
        told = ", ".join(f"{code(name)} {n}" for name, n in inherited.items())
        items.append(f"- inherited, upstream or the fork had them before: {told}")
    return "\n".join(items) or NONE


def _how(checks: Sequence[CheckRun]) -> str:
    """What repeats the checks that passed, and what they ran on, where that is one thing."""
    hows = {(c.command, c.ran_on) for c in checks if c.result == "passed" and c.name != "tests"}
    command, ran_on = hows.pop() if len(hows) == 1 else ("", "")
    return f", by {code(command)} on {ran_on}" if command and ran_on else ""


def verified_cell(ledger: Ledger) -> str:
    """The same in one line, the worst first."""
    checks = ledger.verification.checks
    parts = []
    for result, word in (("failed", "failed"), ("not run", "pending")):
        names = [code(c.name) for c in checks if c.result == result]
        parts += [f"{word}: {', '.join(names)}"] if names else []
    passed = sum(c.result == "passed" for c in checks)
    parts += [f"{counted(passed, 'check')} passed"] if passed else []
    parts += [f"{e.level} evidence" + " (degenerate)" * bool(e.warnings) for e in ledger.verification.evidence]
    return "; ".join(parts) or NONE


def _failed(check: CheckRun, repo: str) -> str:
    why = f": {words(check.waits_for, repo)}" if check.waits_for else ""
    return f"- **failed** {code(check.name)}{why}"


def _pending(check: CheckRun, repo: str) -> list[str]:
    """What nobody ran, with its command and what it waits for."""
    waits = f", waits for {code(check.waits_for)}" if check.waits_for.startswith("-") else ""
    waits = waits or (f": {words(check.waits_for, repo)}" if check.waits_for else "")
    return [f"- **pending** {code(check.name)}{waits}"] + [
        f"  - {code(f.path)}: {_command(f.what, repo)}" for f in check.findings
    ]


def _command(what: str, repo: str) -> str:
    command, gap, waits = what.partition(" (")
    return code(command) + (f" ({words(waits, repo)}" if gap else "")


def _found(check: CheckRun, repo: str) -> str:
    lines = [f"- introduced, found by {code(check.name)}:"]
    for f in check.findings:
        if f.standing == "introduced":
            lines.append(f"  - {code(f'{f.path}:{f.line}')} {words(f.what, repo)} ({code(f.rule)})")
    return "\n".join(lines)


def _introduced(check: CheckRun) -> int:
    return sum(f.standing == "introduced" for f in check.findings)


def _inherited(check: CheckRun) -> int:
    return sum(f.standing == "inherited" for f in check.findings)


def _evidence(e: Evidence, repo: str) -> str:
    figures = "; ".join(f"{words(k, repo)} {prose(v, repo)}" for k, v in sorted(e.figures.items())) or "no figures"
    bad = "".join(f" **{prose(w, repo)}.**" for w in e.warnings)
    command = f", {code(e.command)}" if e.command else ""
    return f"- {e.level}: {figures}.{bad} Commit {code(e.commit[:12])}, {prose(e.machine, repo)}{command}"
