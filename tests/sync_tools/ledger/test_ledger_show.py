"""A ledger on a terminal: open entries first, both sides, and no control character of the content's."""

import io

import pytest
from ledger_world import Files, change_set, port, sample
from rich.console import Console

from sync_tools.ledger.proof import CheckRun, Finding, Verification
from sync_tools.ledger.show import console, head, show


def shown(out: Console, files: Files | None = None, **more: object) -> str:
    made, fork = sample()
    files, fork = (files, files.fork()) if files else (made, fork)
    told = port(change_set(files.changes(), subject="Add \x1b]0;x\x07 (#1921)"), fork)

    def read(path: str) -> bytes | None:
        blob = told.landing.written.blob(path)
        return blob.data if blob else None

    show(out, told.landing.ledger, files.before.get, files.after.get, read, **more)
    return out.file.getvalue()


def test_piped_output_is_plain_and_open_entries_come_first() -> None:
    text = shown(console(io.StringIO()))
    assert "\x1b" not in text
    assert text.index("Open") < text.index("deferred (open)") < text.index("scripts/run.sh")
    assert "+     limit = {'max_new_tokens': 1 + 1}" in text
    assert "    limit = {'max_tokens': 1 + 1}" in text


def test_a_terminal_has_colour_and_both_sides_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    out = Console(
        file=io.StringIO(), force_terminal=True, color_system="standard", width=160, highlight=False, markup=False
    )
    text = shown(out)
    assert "\x1b[" in text
    assert any("max_new_tokens" in line and "'max_tokens" in line for line in text.split("\n"))


def test_no_color_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    text = shown(Console(file=io.StringIO(), force_terminal=True, width=160, highlight=False, markup=False))
    assert "\x1b[31m" not in text
    assert "\x1b[3" not in text


def test_control_characters_of_the_content_do_nothing() -> None:
    files = Files({"a.sh": b""}, {"a.sh": b"\x1b[2J\x1b]8;;http://evil\x07[red]x[/red] :smile: \xff\r\n"})
    text = shown(console(io.StringIO()), files)
    assert not any(c in text for c in "\x1b\x07\r")
    assert "[red]x[/red] :smile:" in text


def test_only_asked_for_paths_and_cut_or_full() -> None:
    files = Files({}, {"a.sh": b"one line\n" * 90, "b.sh": b"x\n"})
    cut = shown(console(io.StringIO()), files, only="a.*")
    assert "50 more lines" in cut
    assert "b.sh" not in cut
    assert "more lines" not in shown(console(io.StringIO()), files, full=True)


def test_what_has_one_side_only_takes_the_whole_width() -> None:
    line = b"x = " + b"1 + " * 16 + b"1\n"
    files = Files({"a.sh": line}, {})
    text = io.StringIO()
    show(
        Console(file=text, width=100, force_terminal=True, color_system=None),
        port(change_set(files.changes()), files.fork()).landing.ledger,
        files.before.get,
        files.after.get,
        {}.get,
    )
    assert line.decode().strip() in text.getvalue()


def test_a_pending_check_says_what_it_waits_for_and_its_command() -> None:
    files = Files({"a.sh": b"a\n"}, {"a.sh": b"b\n"})
    ledger = port(change_set(files.changes()), files.fork()).landing.ledger
    found = Finding(
        rule="tests.not-run", path="tests/t.py", line=1, what="python -m pytest -q tests/t.py", standing="introduced"
    )
    checks = (
        CheckRun(name="parse", result="passed"),
        CheckRun(name="tests", result="not run", findings=(found,), waits_for="--run-tests"),
    )
    told = [line.plain for line in head(ledger.model_copy(update={"verification": Verification(checks=checks)}))]
    assert told[-3:] == ["pending tests, waits for --run-tests", "  python -m pytest -q tests/t.py", "1 check passed"]
