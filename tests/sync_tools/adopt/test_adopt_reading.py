"""What a person reads of a status and of a worksheet stays short enough to read."""

import tomllib
from dataclasses import replace
from io import StringIO

from rich.console import Console

from sync_tools.adopt.standing import Row
from sync_tools.commands.status import SHOWN, Status, lines
from sync_tools.config import Config
from sync_tools.configfile import adopted, render
from sync_tools.ledger.worksheet import Mark, Sheet
from sync_tools.ledger.worksheetpage import page, show
from sync_tools.upstream.window import Window


def told(count: int, every: bool = False) -> list[str]:
    rows = tuple(
        Row(100 + n, "c" * 40, "fix: a thing" if n % 2 else "a thing", "absent", wanted=3, intact=True)
        for n in range(count)
    )
    return list(lines(Status(Window("a" * 40, "b" * 40, ()), rows, (), ()), "THUDM/slime", every))


def test_a_long_list_says_how_many_it_leaves_out_and_all_leaves_out_none() -> None:
    short, whole = told(2 * SHOWN + 8), told(2 * SHOWN + 8, every=True)
    assert short.count("  and 4 more (--all)") == 2
    assert len(short) == len(whole) - 8 + 2
    assert not any("--all" in line for line in [*whole, *told(2 * SHOWN)])


def test_the_next_step_is_a_fix_before_anything_else() -> None:
    assert told(4)[-1] == "Next: vime-sync plan 101"
    assert told(1)[-1] == "Next: vime-sync plan 100"
    assert not told(0)[-1].startswith("Next")


def test_the_cutoff_stands_with_its_table_and_not_under_the_comment_of_the_next() -> None:
    text = adopted(render(Config()), "c" * 40, (), ())
    assert f'name = "slime"\ncutoff = "{"c" * 40}"\n' in text
    assert tomllib.loads(text)["upstream"]["cutoff"] == "c" * 40


def sheet(length: int) -> Sheet:
    ours = tuple(f"line_{n} = {n}" for n in range(length))
    change = (
        Mark("", "50 lines that stay"),
        Mark("-", f"    line_{length // 2} = {length // 2}"),
        Mark("+", "new = 1"),
    )
    return Sheet("a.py", "b.py", "f", ("0" * 16,), "open", "ours", change, "f", 11, ours)


def test_of_a_long_function_the_lines_that_the_change_touches_are_shown() -> None:
    out = StringIO()
    show(Console(file=out), [sheet(300)], "7")
    said = out.getvalue()
    assert "  161   line_150 = 150" in said and "line_100 = 100" not in said and "... 146 lines" in said
    html = page([sheet(300)], "t", "7")
    assert "line_150 = 150" in html and "line_100 = 100" not in html


def test_a_short_function_and_one_that_shares_nothing_are_shown_whole() -> None:
    apart = replace(sheet(300), change=(Mark("+", "new = 1"),))
    for whole in (sheet(30), apart):
        out = StringIO()
        show(Console(file=out), [whole], "7")
        assert all(line in out.getvalue() for line in whole.ours)
