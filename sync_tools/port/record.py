"""The ledger of a port as files of the fork's tree."""

from collections import Counter
from collections.abc import Mapping, Sequence

from sync_tools.config import Config
from sync_tools.ledger import store
from sync_tools.ledger.decide import carry
from sync_tools.ledger.markdown import render
from sync_tools.ledger.model import ORDER, Ledger
from sync_tools.ledger.proof import CheckRun, Finding, Verification
from sync_tools.ledger.reverts import Past, paired, reverted
from sync_tools.ledger.shelf import Shelf
from sync_tools.ledger.supersede import Succession, supersede
from sync_tools.port.edits import Edits, without_noops
from sync_tools.port.ported import Port
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


def complete(port: Port, asked: str = "") -> Ledger:
    """The ledger of a port with the results of its checks. `asked` are the words that ask for the port, where they are
    not those of the change alone."""
    changes = port.changes
    number = str(changes.pr) if changes.pr is not None else f"--commit {changes.commit[:12]}"
    checks = verified(dict(port.checks), asked or number)
    kept = checks.model_copy(update={"evidence": port.ledger.verification.evidence})
    return port.ledger.model_copy(update={"verification": kept})


def recorded(
    ports: Sequence[Port], tree: Tree, config: Config, shelf: Shelf, past: Past, succession: Succession, asked: str = ""
) -> dict[str, Ledger]:
    """The ledgers that ports, oldest first, write or change, by stem: their own, and those of what they undo or replace."""
    book = {known.upstream.stem: known for known in store.read_all(tree, config, shelf.loads)}
    changed: dict[str, Ledger] = {}
    for port in ports:
        earlier = _standing(port, tree, config, shelf)
        if earlier is not None and _stands(port, earlier):
            continue
        ledger = complete(port, asked)
        others = [known for stem, known in book.items() if stem != ledger.upstream.stem]
        ledger = ledger.model_copy(update={"reverts": reverted(port.changes, config.upstream.repo, past)})
        ref, replaced = ledger.upstream.ref, succession.replaces(ledger, others)
        changed |= supersede(book, replaced, ref)
        told = [(known, paired(known, ledger, port.changes, past)) for known in others] if ledger.reverts else ()
        changed |= {now.upstream.stem: now for known, now in told if now is not known}
        changed[ledger.upstream.stem] = ledger
        book |= changed
    return changed


def ledger_edits(changed: Mapping[str, Ledger], tree: Tree, config: Config, shelf: Shelf) -> Edits:
    """The files of ledgers that are written or changed: JSON, Markdown and the index, where they change something."""
    if not changed:
        return {}
    book = {known.upstream.stem: known for known in store.read_all(tree, config, shelf.loads)} | dict(changed)
    files = {store.index_path(config): shelf.index(book.values()).encode()}
    for stem, ledger in changed.items():
        files[store.json_path(config, stem)] = shelf.dumps(ledger)
        files[store.markdown_path(config, stem)] = render(ledger).encode()
    return without_noops({path: Blob(data) for path, data in files.items()}, tree)


def summary(ports: Sequence[Port], checks: Mapping[str, Check] | None = None) -> str:
    """The body of the adaptation commit. `checks` are those of all ports together."""
    counts: Counter[str] = Counter()
    for port in ports:
        counts.update(port.ledger.counts)
    told = ", ".join(f"{counts[op]} {op}" for op in ORDER if op in counts)
    accounted, lines_ = (sum(n) for n in zip(*((p.ledger.accounted, p.ledger.added + p.ledger.removed) for p in ports)))
    lines = [f"Ledger: {told or 'no entries'}; {accounted} of {lines_} lines accounted for."]
    rows = [row for port in ports for row in port.workflows.registrations]
    if rows:
        lines.append(f"CI: {', '.join(f'{r.change} {r.test_file} in {r.job}' for r in rows)}.")
    lines.append(f"Checks: {_said(ports[-1].checks if checks is None else checks)}.")
    return "\n".join(lines)


def _said(checks: Mapping[str, Check]) -> str:
    """What failed, what nobody ran, and how many passed."""
    parts = []
    for result, word in (("failed", "failed"), ("not run", "pending")):
        names = sorted(name for name, check in checks.items() if check.result == result)
        parts += [f"{word}: {', '.join(names)}"] if names else []
    return "; ".join([*parts, f"{sum(check.result == 'passed' for check in checks.values())} passed"])
