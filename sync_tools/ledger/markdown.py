"""A ledger as Markdown: what is open, the table that reviewers know, the mapping of this port, and every entry by file."""

from collections.abc import Sequence

from sync_tools.ledger.escape import code, prose, words
from sync_tools.ledger.model import Entry, Ledger, RuleUse, by_path
from sync_tools.ledger.tables import NONE, lines, sparse, table
from sync_tools.ledger.verified import verified, verified_cell
from sync_tools.plural import counted

RENDERER = 1  # to be raised whenever a ledger renders to other text
FILES_IN_CELL = 6
REASONS_IN_CELL = 3
BREAK = "<br>"
Row = tuple[str, ...]


def render(ledger: Ledger) -> str:
    """The Markdown of a ledger; a function of the ledger alone."""
    origin = ledger.upstream
    parts = [
        f"# {prose(origin.ref, origin.repo)}: {prose(origin.title, origin.repo)}",
        _head(ledger),
        "## Open",
        opened(ledger),
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


def _head(ledger: Ledger) -> str:
    origin = ledger.upstream
    sentences = [
        f"[{origin.ref}]({origin.url}) by {prose(origin.author, origin.repo)}, {origin.date[:10]},"
        f" commit {code(origin.commit)}.",
        f"{lines(ledger.added, ledger.removed)}: {ledger.accounted} of {ledger.added + ledger.removed} changed lines"
        " accounted for.",
        *(f"Landed before as {code(commit)}." for commit in origin.other_landings),
        *(f"Reverts {ref}." for ref in ledger.reverts),
        *([f"Reverted by {ledger.reverted_by}."] if ledger.reverted_by else []),
    ]
    return " ".join(sentences)


def summary(ledger: Ledger) -> str:
    """op | detail, every row printed."""
    old, new = ledger.engines
    rows = [
        ("Ported", _cell(ledger, "ported", "present", "generated")),
        (f"Translated ({old}->{new})", _cell(ledger, "translated")),
        ("Dropped/Deferred", _cell(ledger, "dropped", "deferred", "absent", "superseded", "reverted")),
        ("Diverged", _cell(ledger, "diverged", "conflict")),
        ("Verified", verified_cell(ledger)),
    ]
    return table(("op", f"detail ({ledger.upstream.date[:10]})"), rows)


def mapping(ledger: Ledger) -> str:
    """A row for each rule that applied in the lines of the change."""
    if not ledger.rules:
        return NONE
    titles = {"sglang": "SGLang", "vllm": "vLLM"}
    old, new = (titles.get(engine, engine) for engine in ledger.engines)
    return table(("rule", old, new, "times"), [_rule(use, ledger.upstream.repo) for use in ledger.rules])


def opened(ledger: Ledger) -> str:
    """What waits for a person, one item an entry; then what does so from a day on."""
    repo = ledger.upstream.repo
    items = [f"- **{e.op}** {_opened(e, repo)}" for e in ledger.open]
    items += [f"- comes back: {e.op} {_opened(e, repo)}" for e in ledger.entries if e.until and e.state != "open"]
    return "\n".join(items) or NONE


def _opened(e: Entry, repo: str) -> str:
    return f"{_place(e)}: {words(e.reason or 'no reason given', repo)}{_terms(e, repo)}, entry {code(e.id)}"


def decisions(ledger: Ledger) -> str:
    rows = [
        (
            code(d.entry),
            f"{d.was} -> {d.op}",
            words(d.why, ledger.upstream.repo),
            prose(name(d.who) + (f", for {name(d.owner)}" if d.owner else ""), ledger.upstream.repo),
            d.until or "",
            "applied" if d.applied else "offered: decided for an earlier port",
        )
        for d in ledger.decisions
    ]
    return table(("entry", "operation", "why", "who", "until", "state"), rows)


def registrations(ledger: Ledger) -> str:
    rows = [
        (r.change, code(r.job), code(r.test_file), code(r.label), words(r.why, ledger.upstream.repo)) for r in ledger.ci
    ]
    return sparse(("row", "job", "test", "label", "why"), rows)


def entries(ledger: Ledger) -> str:
    """Every entry, by upstream file."""
    parts = []
    for path, found in by_path(ledger.entries).items():
        homes = dict.fromkeys(e.downstream.path for e in found)
        home = next(iter(homes)) if len(homes) == 1 else None
        title = code(path) + (f" -> {code(home)}" if home not in (None, path) else "")
        mark = ", executed by CI or an install" if any(e.executes for e in found) else ""
        rows = [_row(e, ledger.upstream.repo, home) for e in found]
        head = ("op", "in", "upstream lines", "fork lines", "rules", "reason", "entry")
        parts.append(f"### {title}{mark}\n\n{sparse(head, rows)}")
    return "\n\n".join(parts) or NONE


def _row(e: Entry, repo: str, home: str | None) -> tuple[str, ...]:
    up, down = e.upstream, e.downstream
    moved = f", from {code(up.old_path)}" if up.path and up.old_path not in (None, up.path) else ""
    where = "" if down.path == home else code(down.path)
    differs = f"differs in {', '.join(map(str, down.differs))}" if down.differs else ""
    return (
        e.op if e.state == "settled" else f"**{e.op}** ({e.state})",
        code(up.symbol),
        f"{prose(touched(e), repo)}{moved}",
        " ".join(filter(None, (where, str(down.lines or ""), differs))),
        " ".join(code(rule) for rule in e.rules),
        words(e.reason, repo) + _terms(e, repo) + (f" {e.link}" if e.link else ""),
        code(e.id),
    )


def touched(e: Entry) -> str:
    """The lines of upstream that an entry accounts for, in words; for one without lines what happened to the file."""
    spans = [f"added {e.upstream.new}"] * bool(e.added) + [f"removed {e.upstream.old}"] * bool(e.removed)
    return ", ".join(spans or e.facts)


def _place(e: Entry) -> str:
    """Upstream's first line and, where the fork has one, its own."""
    up, down = e.upstream, e.downstream
    line = f":{up.new.start}" if e.added else f":{up.old.start}" if e.removed else ""
    there = f" -> {code(f'{down.path}:{down.lines.start}')}" if down.lines and down.lines.count else ""
    return f"{code(up.name + line)} {code(up.symbol)}".rstrip() + there


def _terms(e: Entry, repo: str) -> str:
    terms = [f"who: {prose(name(e.who), repo)}"] * bool(e.who) + [f"until {e.until}"] * bool(e.until)
    return f" ({', '.join(terms)})" if terms else ""


def name(who: str) -> str:
    """`Name <address>` without the address, which the commit has."""
    return who.partition(" <")[0]


def _cell(ledger: Ledger, *ops: str) -> str:
    """What is in these operations: lines and files, and for those that need one the reasons."""
    out = []
    for op in ops:
        found = [e for e in ledger.entries if e.op == op]
        if found:
            files = list(by_path(found))
            shown = ", ".join(code(p) for p in files[:FILES_IN_CELL])
            more = f" and {len(files) - FILES_IN_CELL} more" if len(files) > FILES_IN_CELL else ""
            name = "" if op == ops[0] else f"{op} "
            size = lines(sum(e.added for e in found), sum(e.removed for e in found))
            out.append(f"{name}{size} in {shown}{more}{_reasons(ledger, found)}")
    return BREAK.join(out) or NONE


def _reasons(ledger: Ledger, found: Sequence[Entry]) -> str:
    if found[0].op in ("ported", "translated", "present", "generated"):
        return ""
    reasons = list(dict.fromkeys(e.reason for e in found if e.reason))
    shown = [words(r, ledger.upstream.repo) for r in reasons[:REASONS_IN_CELL]]
    more = [f"{len(reasons) - REASONS_IN_CELL} more"] * (len(reasons) > REASONS_IN_CELL)
    return f": {'; '.join(shown + more)}" if shown else ""


def _rule(use: RuleUse, repo: str) -> tuple[str, ...]:
    """Old and new spellings stand on the same line of their cells."""
    olds = BREAK.join(code(old) or "(added)" for old, _ in use.pairs)
    news = BREAK.join(code(new) or "(dropped)" for _, new in use.pairs)
    passage = not any(old or new for old, new in use.pairs)
    return (
        f"{code(use.rule)} {words(use.title, repo)}".strip(),
        "(a passage)" if passage else olds,
        "(rewritten)" if passage else news,
        str(use.count),
    )


def _waits(ledger: Ledger) -> str:
    """How many entries are open, and how many come back, with the first day after which one does."""
    again = sorted(e.until for e in ledger.entries if e.until and e.state != "open")
    cells = [f"**{len(ledger.open)}**"] * bool(ledger.open) + [f"{len(again)} after {again[0]}" for _ in again[:1]]
    return ", ".join(cells) or NONE


def index(ledgers: Sequence[Ledger], rows: Sequence[Row] | None = None) -> str:
    """`ledgers/README.md`: a row a ledger; `rows` are their `index_row`s where they are known."""
    rows = rows if rows is not None else [index_row(x) for x in ledgers]
    waiting = sum(bool(x.open) for x in ledgers)
    said = f" {counted(waiting, 'has', 'have')} open entries." if waiting else ""
    body = table(("upstream", "title", "date", "open", "lines", "entries"), rows)
    return f"# Ledgers\n\nOne for each upstream change that was ported; the `.json` beside each `.md` is what tools read.{said}\n\n{body}\n"


def index_row(ledger: Ledger) -> Row:
    """The index's row of a ledger."""
    origin = ledger.upstream
    return (
        f"[{origin.ref}]({origin.stem}.md)",
        prose(origin.title, origin.repo),
        origin.date[:10],
        _waits(ledger),
        lines(ledger.added, ledger.removed),
        ", ".join(f"{n} {op}" for op, n in ledger.counts.items()) or NONE,
    )
