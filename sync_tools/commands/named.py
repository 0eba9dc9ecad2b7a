"""The changes that a command line names, in the order in which it names them."""

from collections.abc import Iterable, Iterator

import click
from typer.core import TyperCommand

from sync_tools.errors import SyncError

OPTION, MARK = "--commit", "commit:"


class InOrder(TyperCommand):
    """A command whose `--commit REV` keeps its place among the arguments: click collects options apart from them, so it
    is handed on as one of them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, list(_in_place(args)))


def _in_place(args: Iterable[str]) -> Iterator[str]:
    words = iter(args)
    for word in words:
        if word == OPTION and (rev := next(words, None)) is not None:
            yield f"{MARK}{rev}"
        elif word.startswith(f"{OPTION}="):
            yield MARK + word.removeprefix(f"{OPTION}=")
        else:
            yield word


def named(words: Iterable[str]) -> tuple[int | str, ...]:
    """Pull requests' numbers and commits. A number may be written 1921 or #1921; a commit's hex where a number is asked
    for is a bare commit. Raises SyncError for anything else."""
    return tuple(map(_change, words))


def _change(word: str) -> int | str:
    digits = word.removeprefix("#")
    if digits.isascii() and digits.isdigit() and len(digits) <= 9:
        return int(digits)
    if word.startswith(MARK):
        return word.removeprefix(MARK)
    if len(word) >= 7 and all(c in "0123456789abcdef" for c in word):
        return word
    raise SyncError(
        "not a pull request's number", word, "write it as 1921; a commit as seven of its hex digits or more"
    )
