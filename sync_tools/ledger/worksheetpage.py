"""Worksheets on a terminal, as plain text and as a page of HTML. What upstream wrote shows as text, whatever it holds."""

from collections.abc import Iterator, Sequence
from html import escape

from rich.console import Console
from rich.table import Table
from rich.text import Text

from sync_tools.ledger.escape import plain, printable
from sync_tools.ledger.worksheet import Mark, Sheet
from sync_tools.plural import counted

# A longer function of the fork's is shown around the lines that it shares with the change.
WHOLE, AROUND = 40, 4
COLOURS = {"-": "red", "+": "green", "": "dim"}
STYLE = """body{font:14px/1.4 system-ui,sans-serif;margin:2em}h2{font-size:1.1em;margin:2em 0 .3em}
table{border-collapse:collapse;width:100%;table-layout:fixed}td,th{vertical-align:top;text-align:left;width:50%;padding:.3em}
pre{margin:0;overflow-x:auto;font:12px/1.35 ui-monospace,monospace}
.add{background:#e6ffec}.gone{background:#ffebe9}.gap{color:#777}
@media(prefers-color-scheme:dark){body{background:#111;color:#ddd}.add{background:#12351f}.gone{background:#43191b}}"""


def show(out: Console, sheets: Sequence[Sheet], number: str) -> None:
    """Print worksheets: both sides beside each other on a terminal, one under the other elsewhere."""
    for sheet in sheets:
        out.print(Text(f"\n{_title(sheet)}", style="bold"))
        for line in _notes(sheet, number):
            out.print(Text(line, style="dim"))
        change, ours = [_mark(mark) for mark in sheet.change], list(_ours(sheet))
        if out.is_terminal:
            table = Table.grid(expand=True, padding=(0, 1))
            for _ in range(2):
                table.add_column(ratio=1, overflow="fold")
            table.add_row(Text("\n").join(change), Text("\n").join(ours))
            out.print(table)
        else:
            for line in [*change, Text(f"  {_heading(sheet)}"), *ours]:
                out.print(line)


def page(sheets: Sequence[Sheet], title: str, number: str) -> str:
    """A page that needs nothing else: no script, nothing from elsewhere."""
    body = "\n".join(_section(sheet, number) for sheet in sheets) or "<p>No worksheet waits.</p>"
    name = escape(plain(title))
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{policy}">'
        f"<title>{name}</title><style>{STYLE}</style>\n<h1>{name}</h1>\n{body}\n</html>\n"
    )


def _section(sheet: Sheet, number: str) -> str:
    change = "\n".join(_html(mark) for mark in sheet.change)
    ours = "\n".join(escape(text.plain) for text in _ours(sheet))
    notes = "<br>".join(escape(line) for line in _notes(sheet, number))
    return (
        f"<h2>{escape(_title(sheet))}</h2>\n<p>{notes}</p>\n<table><tr><th>upstream's change, translated</th>"
        f"<th>{escape(_heading(sheet))}</th></tr>\n<tr><td><pre>{change}</pre></td><td><pre>{ours}</pre></td></tr></table>"
    )


def _title(sheet: Sheet) -> str:
    return plain(f"{sheet.path}  {sheet.symbol}")


def _notes(sheet: Sheet, number: str) -> Iterator[str]:
    ids = ", ".join(e[:8] for e in sheet.entries)
    yield plain(f"{sheet.state}: {sheet.reason} ({ids})")
    if sheet.state == "open":
        yield f'vime-sync ledger resolve {number} {sheet.entries[0][:8]} --as diverged --why "..."'


def _heading(sheet: Sheet) -> str:
    if not sheet.ours:
        return "the fork has nothing like it"
    return plain(f"the fork's {sheet.ours_symbol or sheet.path}, line {sheet.start}")


def _ours(sheet: Sheet) -> Iterator[Text]:
    shown, last = _near(sheet), -1
    for i in (*shown, len(sheet.ours)):
        if i - last > 1:
            yield Text(f"  ... {counted(i - last - 1, 'line')}", style="dim")
        if i < len(sheet.ours):
            yield Text(f"{sheet.start + i:>5}   {printable(sheet.ours[i])}", style="cyan")
        last = i


def _near(sheet: Sheet) -> Sequence[int]:
    """The lines of the fork's side to show: all of a short one, or of one that shares nothing with the change."""
    every = range(len(sheet.ours))
    said = {mark.text.strip() for mark in sheet.change if mark.sign}
    shared = [i for i, line in enumerate(sheet.ours) if line.strip() in said and sum(map(str.isalnum, line)) > 3]
    if len(every) <= WHOLE or not shared:
        return every
    return sorted({j for i in shared for j in every[max(0, i - AROUND) : i + AROUND + 1]})


def _mark(mark: Mark) -> Text:
    return Text(f"  {mark.sign or '...':<3} {printable(mark.text)}", style=COLOURS.get(mark.sign, ""))


def _html(mark: Mark) -> str:
    kind = {"+": "add", "-": "gone", "": "gap"}.get(mark.sign)
    text = escape(f"{mark.sign or '...'} {printable(mark.text)}")
    return f'<span class="{kind}">{text}</span>' if kind else text
