"""What a person meets first: help, errors, and a clone of upstream in either form."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import typer

from sync_tools.cli import app
from sync_tools.reference import _walk

COMMANDS = [name.split()[1:] for name, _ in _walk("vime-sync", typer.main.get_command(app))]


@pytest.mark.parametrize("words", [[], ["ledger"], ["ci"], ["seam"], *COMMANDS], ids=" ".join)
def test_help_fits_a_terminal_and_has_no_markup(words: list[str], sync: Callable[..., object]) -> None:
    said = sync(*words, "--help")
    assert said.code == 0
    assert max(map(len, said.out.splitlines())) <= 80
    assert not any(sign in said.out for sign in ("[bold", "[/", "<bool>", "\x1b", "╭"))
    assert not re.search(r"\w\.\.\.$", said.out, re.MULTILINE), "a summary is cut"


@pytest.mark.parametrize("words", [[], ["ledger"], ["ci"], ["seam"]], ids=" ".join)
def test_a_group_alone_shows_its_help_and_no_error(words: list[str], sync: Callable[..., object]) -> None:
    said = sync(*words)
    assert (said.code, said.err) == (2, "")
    assert said.out.startswith("Usage: vime-sync")


@pytest.mark.parametrize("inside", ["", ".git"])
def test_a_clone_with_files_is_an_upstream(inside: str, upstream: Path, sync: Callable[..., object]) -> None:
    assert sync("fetch", upstream=upstream / inside).code == 0


def test_a_missing_mirror_names_the_command_that_makes_it(tmp_path: Path, sync: Callable[..., object]) -> None:
    url = f"file://{tmp_path}/nothing.git"
    said = sync("import", at="main", to=tmp_path / "x", upstream=url)
    assert (said.code, f"`vime-sync fetch --upstream {url}`" in said.err) == (2, True)
    said = sync("fetch", upstream=url)
    assert said.code == 2
    assert "fatal: " in said.err
    assert "remote's" not in said.err


def test_the_version_needs_no_command(sync: Callable[..., object]) -> None:
    said = sync("--version")
    assert (said.code, said.err) == (0, "")
    assert re.fullmatch(r"\d+\.\d+\.\d+\S*\n", said.out)
