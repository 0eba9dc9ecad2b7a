"""Every command that a document shows is one: its options exist, its arguments fit, and nothing has to be guessed."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer

from sync_tools.cli import app
from sync_tools.commands.main import CLICK

ROOT = Path(__file__).parents[3]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCED = re.compile(r"^ *```(?:sh|bash|shell)\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
INDENTED = re.compile(r"^    (vime-sync .*)$", re.MULTILINE)
INLINE = re.compile(r"`(vime-sync [^`]*)`")


def shown(text: str) -> list[str]:
    """The commands of a document: of its blocks, of indented lines, and in its sentences."""
    blocks = (line for block in FENCED.findall(text) for line in block.replace("\\\n", " ").splitlines())
    return [line.strip() for line in (*blocks, *INDENTED.findall(text)) if line.strip().startswith("vime-sync")]


def named(words: list[str]) -> tuple[Any, list[str]]:
    """The command, or the group, that the words name, and the words after it."""
    command, words = typer.main.get_command(app), list(words)
    while words and words[0] in (commands := getattr(command, "commands", {})):
        command = commands[words.pop(0)]
    return command, words


def parsed(words: list[str]) -> None:
    """Raises click's error where there is no such command, option or argument."""
    command, rest = named(words)
    if hasattr(command, "commands"):
        raise typer.BadParameter(f"no such command: {' '.join(words)}")
    command.make_context("vime-sync", rest)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda p: p.name)
def test_the_parser_knows_every_command_of_the_document(document: Path) -> None:
    wrong = {}
    for line in shown(document.read_text("utf-8")):
        try:
            parsed(shlex.split(line, comments=True)[1:])
        except CLICK as e:
            wrong[line] = e.format_message()
    assert wrong == {}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda p: p.name)
def test_commands_and_options_in_sentences_exist(document: Path) -> None:
    wrong = []
    for said in INLINE.findall(re.sub(r"\n *", " ", document.read_text("utf-8"))):
        command, words = named(said.split()[1:])
        known = {option for p in command.params for option in p.opts} | {"--help", "--version"}
        strange = [w for w in words if w.startswith("--") and w.split("=")[0] not in known]
        if strange or (hasattr(command, "commands") and words and not words[0].startswith("-")):
            wrong.append(said)
    assert wrong == []


def test_blocks_of_commands_are_marked_alike() -> None:
    assert [d.name for d in DOCUMENTS if re.search(r"^ *```(?:bash|shell|console)$", d.read_text("utf-8"), re.M)] == []


def test_what_is_wrong_is_found() -> None:
    with pytest.raises(CLICK):
        parsed(["port", "1921", "--no-such-option"])
    with pytest.raises(CLICK):
        parsed(["ledger", "no-such-command"])
