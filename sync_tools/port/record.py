"""The ledger of a port as files of the fork's tree."""

from collections.abc import Mapping

from sync_tools.config import Config
from sync_tools.ledger import store
from sync_tools.ledger.decide import carry
from sync_tools.ledger.markdown import render
from sync_tools.ledger.model import CheckRun, Finding, Ledger, Verification
from sync_tools.ledger.reverts import Past, paired, reverted
from sync_tools.ledger.shelf import Shelf
from sync_tools.port.edits import Edits, without_noops
from sync_tools.port.pipeline import Port
from sync_tools.tree import Blob, Tree
from sync_tools.verify.model import Check

STATIC, SANDBOX = "the files of the port alone: no engine, no GPU", "a copy of the port in a sandbox, no GPU"


def ledger_path(ledger: Ledger, config: Config) -> str:
    """The path of a ledger's file in the fork."""
    return store.json_path(config, ledger.upstream.stem)


def with_history(port: Port, tree: Tree, config: Config, shelf: Shelf) -> Ledger:
    """The ledger with what people and runs added to the one that stands in the tree: decisions are offered again. Where
    everything that an earlier port of the same commit brought still stands, that port's ledger still tells it best."""
    earlier = _standing(port, tree, config, shelf)
    if earlier is None:
        return port.ledger
    return earlier if _stands(port, earlier) else carry(port.ledger, earlier)


def _standing(port: Port, tree: Tree, config: Config, shelf: Shelf) -> Ledger | None:
    path = ledger_path(port.ledger, config)
    found = tree.blob(path)
    return shelf.loads(found.data, path) if found else None


def _stands(port: Port, earlier: Ledger) -> bool:
    return not port.final and not port.conflicts and earlier.upstream.commit == port.changes.commit


def verified(checks: dict[str, Check], number: str) -> Verification:
    """What the checks said, as the ledger keeps it."""
    return Verification(checks=tuple(_run(check, number) for _, check in sorted(checks.items())))


def _run(check: Check, number: str) -> CheckRun:
    findings = tuple(
        Finding(rule=f.rule, path=f.path, line=f.line, what=f.message, standing=f.origin) for f in check.findings
    )
    tests = check.name == "tests"
    return CheckRun(
        name=check.name,
        result=check.result,
        findings=findings,
        command=f"vime-sync port {number} {'--run-tests' if tests else '--dry-run'}",
        ran_on="" if check.result == "not run" else SANDBOX if tests else STATIC,
        waits_for=check.reason,
    )


def complete(port: Port) -> Ledger:
    """The ledger of a port with the results of its checks."""
    changes = port.changes
    number = str(changes.pr) if changes.pr is not None else f"--commit {changes.commit[:12]}"
    checks = verified(dict(port.checks), number)
    kept = checks.model_copy(update={"evidence": port.ledger.verification.evidence})
    return port.ledger.model_copy(update={"verification": kept})


def ledger_edits(port: Port, tree: Tree, config: Config, shelf: Shelf, past: Past) -> Edits:
    """The ledger, its Markdown and the index, where they change something; a revert is told in the ledger that it undoes too."""
    earlier = _standing(port, tree, config, shelf)
    if earlier is not None and _stands(port, earlier):
        return {}
    ledger = complete(port)
    standing = store.read_all(tree, config, shelf.loads)
    others = [known for known in standing if known.upstream.stem != ledger.upstream.stem]
    ledger = ledger.model_copy(update={"reverts": reverted(port.changes, config.upstream.repo, past)})
    told = [paired(known, ledger, port.changes, past) for known in others] if ledger.reverts else others
    files = {store.index_path(config): shelf.index([*told, ledger]).encode()}
    for each in [ledger, *(now for now, known in zip(told, others, strict=True) if now is not known)]:
        files[store.json_path(config, each.upstream.stem)] = shelf.dumps(each)
        files[store.markdown_path(config, each.upstream.stem)] = render(each).encode()
    return without_noops({path: Blob(data) for path, data in files.items()}, tree)


def summary(port: Port) -> str:
    """The body of the adaptation commit."""
    counts = ", ".join(f"{count} {op}" for op, count in port.ledger.counts.items())
    lines = [
        f"Ledger: {counts or 'no entries'}; {port.ledger.accounted} of {port.ledger.added + port.ledger.removed} lines accounted for."
    ]
    rows = port.workflows.registrations
    if rows:
        lines.append(f"CI: {', '.join(f'{r.change} {r.test_file} in {r.job}' for r in rows)}.")
    lines.append(f"Checks: {_said(port.checks)}.")
    return "\n".join(lines)


def _said(checks: Mapping[str, Check]) -> str:
    """What failed, what nobody ran, and how many passed."""
    parts = []
    for result, word in (("failed", "failed"), ("not run", "pending")):
        names = sorted(name for name, check in checks.items() if check.result == result)
        parts += [f"{word}: {', '.join(names)}"] if names else []
    return "; ".join([*parts, f"{sum(check.result == 'passed' for check in checks.values())} passed"])
