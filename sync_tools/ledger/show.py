"""A ledger on a terminal: the summary, what is open, then every entry by file, upstream beside the fork."""

from collections.abc import Callable, Iterator, Sequence
from typing import IO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from sync_tools.ledger.escape import plain, printable, references
from sync_tools.ledger.lines import split
from sync_tools.ledger.markdown import touched
from sync_tools.ledger.model import Entry, Ledger, Op, Span, by_path
from sync_tools.ledger.proof import CheckRun
from sync_tools.plural import counted
from sync_tools.policy import matches

Reader = Callable[[str], bytes | None]
"""The bytes of a file by its path, None where there is none."""

COLOURS: dict[Op, str] = {
    "ported": "green",
    "translated": "cyan",
    "present": "green",
    "generated": "green",
    "dropped": "yellow",
    "diverged": "magenta",
    "deferred": "bold yellow",
    "absent": "bold yellow",
    "conflict": "bold red",
}
SHOWN = 40


def console(file: IO[str], width: int | None = None) -> Console:
    """Colour on a terminal and not under NO_COLOR; plain, unwrapped text elsewhere."""
    return Console(file=file, width=width, highlight=False, markup=False, emoji=False, soft_wrap=True)


def show(
    out: Console, ledger: Ledger, before: Reader, after: Reader, fork: Reader, only: str = "", full: bool = False
) -> None:
    """Print a ledger. `before`, `after` and `fork` read upstream's images and the fork's file; `only` is a glob of
    paths; long pieces are cut unless `full`. Control characters in what is shown have no effect."""
    sides = _Sides(before, after, fork, None if full else SHOWN)
    for line in head(ledger):
        out.print(line)
    waiting = [e for e in ledger.open if _wanted(e, only)]
    if waiting:
        out.print(Text("\nOpen", style="bold"))
        for e in waiting:
            _entry(out, e, ledger, sides)
    for path, entries in by_path(e for e in ledger.entries if _wanted(e, only)).items():
        mark = Text("  executes", style="red") if any(e.executes for e in entries) else Text()
        out.print(Text("\n") + Text(plain(path), style="bold") + mark)
        for e in entries:
            if e.state == "open":
                out.print(Text.assemble(_line(e, ledger), "  see above"))
            else:
                _entry(out, e, ledger, sides)


def head(ledger: Ledger) -> Iterator[Text]:
    """The summary."""
    origin = ledger.upstream
    yield Text.assemble((f"{origin.ref}  ", "bold"), plain(references(origin.title, origin.repo)))
    yield Text(f"{plain(origin.author)}, {origin.date[:10]}, {origin.url}", style="dim")
    total = ledger.added + ledger.removed
    yield Text(f"+{ledger.added} -{ledger.removed}, {ledger.accounted} of {total} lines accounted for")
    yield Text("  ").join(Text(f"{op} {n}", style=COLOURS.get(op, "")) for op, n in ledger.counts.items())
    if ledger.reverted_by:
        yield Text(f"reverted by {ledger.reverted_by}", style="bold red")
    yield from _checks(ledger.verification.checks)
    for evidence in ledger.verification.evidence:
        warned = "; ".join(map(plain, evidence.warnings))
        yield Text.assemble(f"evidence {evidence.level}: {plain(evidence.log)}  ", (warned, "red"))


def _checks(checks: Sequence[CheckRun]) -> Iterator[Text]:
    """What failed and what nobody ran, a line each, with what was found; then how many passed."""
    for check in checks:
        if check.result != "passed":
            word, style = ("failed", "bold red") if check.result == "failed" else ("pending", "yellow")
            waits = ", waits for" if check.waits_for.startswith("-") else ":"
            why = f"{waits} {plain(check.waits_for)}" if check.waits_for else ""
            yield Text(f"{word} {plain(check.name)}{why}", style=style)
        for f in check.findings:
            if f.standing == "introduced":
                place = "" if check.result == "not run" else f"{plain(f.path)}:{f.line}  "
                yield Text(f"  {place}{plain(f.what)}")
    passed = sum(check.result == "passed" for check in checks)
    if passed:
        yield Text(f"{counted(passed, 'check')} passed", style="dim")


class _Sides:
    """The text of both sides of an entry."""

    def __init__(self, before: Reader, after: Reader, fork: Reader, limit: int | None) -> None:
        self._before, self._after, self._fork, self._limit = before, after, fork, limit

    def upstream(self, e: Entry) -> list[Text]:
        up = e.upstream
        return self._lines(self._before, up.old_path, up.old, "-", "red") + self._lines(
            self._after, up.path, up.new, "+", "green"
        )

    def fork(self, e: Entry) -> list[Text]:
        return self._lines(self._fork, e.downstream.path, e.downstream.lines, " ", "cyan")

    def _lines(self, read: Reader, path: str | None, span: Span | None, sign: str, style: str) -> list[Text]:
        data = read(path) if path and span and span.count else None
        if data is None or span is None:
            return []
        lines = split(data)[span.lines.start : span.lines.stop]
        shown = lines if self._limit is None else lines[: self._limit]
        out = [
            Text(f"{n:>5} {sign} {printable(line.decode('utf-8', 'replace').rstrip())}", style=style)
            for n, line in enumerate(shown, span.start)
        ]
        return out + [Text(f"      {len(lines) - len(shown)} more lines", style="dim")] * (len(shown) < len(lines))


def _entry(out: Console, e: Entry, ledger: Ledger, sides: _Sides) -> None:
    out.print(_line(e, ledger))
    upstream, fork = sides.upstream(e), sides.fork(e)
    if not upstream and not fork:
        return
    if out.is_terminal and upstream and fork:
        out.print(_beside(upstream, fork))
    else:
        for line in [*upstream, *([Text(f"      in {plain(e.downstream.path)}")] if fork else []), *fork]:
            out.print(line)


def _beside(upstream: Sequence[Text], fork: Sequence[Text]) -> Table:
    table = Table.grid(expand=True, padding=(0, 1))
    table.add_column(ratio=1, overflow="fold")
    table.add_column(ratio=1, overflow="fold")
    table.add_row(Text("\n").join(upstream), Text("\n").join(fork))
    return table


def _line(e: Entry, ledger: Ledger) -> Text:
    op = e.op if e.state == "settled" else f"{e.op} ({e.state})"
    down = e.downstream
    where = f"-> {plain(down.path)}:{down.lines}" if down.lines else f"-> {plain(down.path)}"
    differs = f"differs in {', '.join(map(str, down.differs))}" if down.differs else ""
    words = [
        plain(e.upstream.symbol),
        plain(touched(e)),
        where,
        differs,
        " ".join(e.rules),
        plain(references(e.reason, ledger.upstream.repo)),
    ]
    words += [f"who: {plain(e.who)}" if e.who else "", f"until {e.until}" if e.until else "", e.link or ""]
    shown = "  ".join(filter(None, words))
    return Text.assemble((f"  {e.id}  ", "dim"), (f"{op:<16}  ", COLOURS.get(e.op, "")), shown)


def _wanted(e: Entry, only: str) -> bool:
    return not only or any(matches(only, p) for p in (e.upstream.name, e.downstream.path))
