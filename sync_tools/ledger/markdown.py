"""A ledger as the table that reviewers know, then what is open, the mapping of this port, and every entry by file."""

from collections.abc import Iterable, Sequence

from sync_tools.ledger.escape import code, prose
from sync_tools.ledger.model import CheckRun, Entry, Ledger, RuleUse, by_path

NONE = "none"
FILES_IN_CELL = 12


def render(ledger: Ledger) -> str:
    """The Markdown of a ledger; a function of the ledger alone."""
    origin = ledger.upstream
    parts = [
        f"# {prose(origin.ref, origin.repo)}: {prose(origin.subject, origin.repo)}",
        f"[{origin.ref}]({origin.url}), commit {code(origin.commit)}, by {prose(origin.author, origin.repo)},"
        f" {origin.date[:10]}. {ledger.added} lines added, {ledger.removed} removed;"
        f" {ledger.accounted} of {ledger.added + ledger.removed} accounted for."
        + "".join(f" Landed before as {code(commit)}." for commit in origin.other_landings)
        + "".join(f" Reverts {ref}." for ref in ledger.reverts)
        + (f" Reverted by {ledger.reverted_by}." if ledger.reverted_by else ""),
        "## Open",
        opened(ledger) or NONE,
        "## Summary",
        summary(ledger),
        "## Mapping",
        mapping(ledger),
        *(["## Decisions", decisions(ledger)] if ledger.decisions else []),
        *(["## CI", registrations(ledger)] if ledger.ci else []),
        "## Verified",
        verified(ledger),
        "## Entries",
        entries(ledger),
    ]
    return "\n\n".join(parts) + "\n"


def summary(ledger: Ledger) -> str:
    """op | detail, every row printed."""
    old, new = ledger.engines
    rows = [
        ("Ported", _cell(ledger, "ported", "present", "generated")),
        (f"Translated ({old}->{new})", _cell(ledger, "translated")),
        ("Dropped/Deferred", _cell(ledger, "dropped", "deferred", "absent", "superseded", "reverted")),
        ("Diverged", _cell(ledger, "diverged", "conflict")),
        ("Verified", _verified_cell(ledger)),
    ]
    return _table(("op", f"detail ({ledger.upstream.date[:10]})"), rows)


def mapping(ledger: Ledger) -> str:
    """A row for each rule that applied in the lines of the change."""
    if not ledger.rules:
        return NONE
    titles = {"sglang": "SGLang", "vllm": "vLLM"}
    old, new = (titles.get(engine, engine) for engine in ledger.engines)
    return _table(("rule", old, new, "times"), [_rule(use, ledger.upstream.repo) for use in ledger.rules])


def opened(ledger: Ledger) -> str:
    """What waits for a person, one item an entry; empty where nothing does."""
    repo = ledger.upstream.repo
    return "\n".join(
        f"- **{e.op}** {_place(e)}: {prose(e.reason or 'no reason given', repo)}{_terms(e, repo)} {code(e.id)}"
        for e in ledger.open
    )


def decisions(ledger: Ledger) -> str:
    rows = [
        (
            code(d.entry),
            f"{d.was} -> {d.op}",
            prose(d.why, ledger.upstream.repo),
            prose(d.who, ledger.upstream.repo),
            d.until or "",
            "applied" if d.applied else "offered: decided for an earlier port",
        )
        for d in ledger.decisions
    ]
    return _table(("entry", "operation", "why", "who", "until", "state"), rows)


def registrations(ledger: Ledger) -> str:
    rows = [
        (r.change, code(r.job), code(r.test_file), code(r.label), prose(r.why, ledger.upstream.repo)) for r in ledger.ci
    ]
    return _table(("row", "job", "test", "label", "why"), rows)


def verified(ledger: Ledger) -> str:
    """Checks and evidence; what was not run says what it waits for."""
    repo = ledger.upstream.repo
    rows = [
        (code(c.name), c.result, _findings(c), code(c.command), prose(c.ran_on or c.waits_for, repo))
        for c in ledger.verification.checks
    ]
    lines = [_table(("check", "result", "findings", "command", "ran on / waits for"), rows)] if rows else []
    for e in ledger.verification.evidence:
        figures = ", ".join(f"{prose(k, repo)} {prose(v, repo)}" for k, v in sorted(e.figures.items()))
        bad = "".join(f" **{prose(w, repo)}**" for w in e.warnings)
        lines.append(
            f"- {e.level}: {figures}.{bad} Commit {code(e.commit)}, {prose(e.machine, repo)}, {code(e.command)}"
        )
    return "\n\n".join(lines) or NONE


def entries(ledger: Ledger) -> str:
    """Every entry, by upstream file."""
    parts = []
    for path, found in by_path(ledger.entries).items():
        mark = " (executes)" if any(e.executes for e in found) else ""
        rows = [_row(e, ledger.upstream.repo) for e in found]
        head = ("op", "upstream", "fork", "+", "-", "rules", "reason", "id")
        parts.append(f"### {code(path)}{mark}\n\n{_table(head, rows)}")
    return "\n\n".join(parts) or NONE


def _row(e: Entry, repo: str) -> tuple[str, ...]:
    up, down = e.upstream, e.downstream
    lines = f"-{up.old} +{up.new}" if e.added or e.removed else ", ".join(e.facts)
    moved = f"from {code(up.old_path)} " if up.path and up.old_path not in (None, up.path) else ""
    differs = f" (differs: {', '.join(map(str, down.differs))})" if down.differs else ""
    where = f"{code(down.path)} {down.lines or ''}".strip() + differs
    state = "" if e.state == "settled" else f" ({e.state})"
    return (
        e.op + state,
        f"{code(up.symbol)} {moved}{prose(lines, repo)}".strip(),
        where,
        str(e.added),
        str(e.removed),
        " ".join(e.rules),
        prose(e.reason, repo) + _terms(e, repo) + (f" {e.link}" if e.link else ""),
        code(e.id),
    )


def _place(e: Entry) -> str:
    return " ".join(
        filter(None, (code(e.upstream.name), code(e.upstream.symbol), f"line {e.upstream.new}" if e.added else ""))
    )


def _terms(e: Entry, repo: str) -> str:
    who = f" (who: {prose(e.who, repo)})" if e.who else ""
    return who + (f" (until {e.until})" if e.until else "")


def _cell(ledger: Ledger, *ops: str) -> str:
    """What is in these operations: entries, lines and files, and for those that need one the reasons."""
    out = []
    for op in ops:
        found = [e for e in ledger.entries if e.op == op]
        if found:
            files = list(by_path(found))
            shown = ", ".join(code(p) for p in files[:FILES_IN_CELL])
            more = f" and {len(files) - FILES_IN_CELL} more" if len(files) > FILES_IN_CELL else ""
            name = "" if op == ops[0] and len(ops) == 1 else f"{op}: "
            out.append(
                f"{name}+{sum(e.added for e in found)} -{sum(e.removed for e in found)} in {shown}{more}{_reasons(ledger, found)}"
            )
    return "; ".join(out) or NONE


def _reasons(ledger: Ledger, found: Sequence[Entry]) -> str:
    if found[0].op in ("ported", "translated", "present", "generated"):
        return ""
    reasons = list(dict.fromkeys(e.reason for e in found if e.reason))[:3]
    return " (" + "; ".join(prose(r, ledger.upstream.repo) for r in reasons) + ")" if reasons else ""


def _verified_cell(ledger: Ledger) -> str:
    checks = [f"{code(c.name)} {c.result}" for c in ledger.verification.checks]
    levels = [f"{e.level} evidence" + (" (degenerate)" if e.warnings else "") for e in ledger.verification.evidence]
    return ", ".join(checks + levels) or NONE


def _findings(check: CheckRun) -> str:
    new = sum(f.standing == "introduced" for f in check.findings)
    return f"{new} introduced, {len(check.findings) - new} inherited"


def _rule(use: RuleUse, repo: str) -> tuple[str, ...]:
    olds = " ".join(code(old) for old, _ in use.pairs)
    news = " ".join(code(new) or "(dropped)" for _, new in use.pairs)
    return f"{code(use.rule)} {prose(use.title, repo)}".strip(), olds or "(passages)", news, str(use.count)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def index(ledgers: Sequence[Ledger]) -> str:
    """`ledgers/README.md`: a row a ledger."""
    rows = [
        (
            f"[{x.upstream.ref}]({x.upstream.stem}.md)",
            prose(x.upstream.subject, x.upstream.repo),
            x.upstream.date[:10],
            f"+{x.added} -{x.removed}",
            ", ".join(f"{op} {n}" for op, n in x.counts.items()) or NONE,
            str(len(x.open)),
        )
        for x in ledgers
    ]
    table = _table(("upstream", "title", "date", "lines", "entries", "open"), rows)
    return f"# Ledgers\n\nOne for each upstream change that was ported; the `.json` beside each `.md` is what tools read.\n\n{table}\n"
