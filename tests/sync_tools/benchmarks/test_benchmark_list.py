"""The list of benchmarks: every file that is one is in it, and runs only with what it needs."""

from pathlib import Path

import pytest

from benchmarks.__main__ import NEEDS, arguments, main

FOLDER = Path(__file__).parents[3] / "benchmarks"


def test_every_program_of_the_folder_is_listed() -> None:
    programs = {p.stem for p in FOLDER.glob("*.py") if "ArgumentParser(" in p.read_text("utf-8")}
    assert programs - {"__main__"} <= set(NEEDS)
    assert all((FOLDER / f"{name}.py").is_file() for name in NEEDS)


def test_what_is_not_named_is_not_run() -> None:
    needs = NEEDS["merge_fidelity"]
    named = {name: name.lower() for name in needs.values()}
    assert arguments(needs, named) == ["--upstream", "sync_upstream", "--fork", "sync_fork", "--pairs", "sync_pairs"]
    assert arguments(needs, {**named, "SYNC_FORK": ""}) is None
    assert arguments({}, {}) == []


@pytest.mark.parametrize("word", ["--help", "sandbox", "--only"])
def test_a_word_starts_nothing(word: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main([word])
    assert left.value.code == (0 if word == "--help" else 2) and "==" not in capfd.readouterr().out
