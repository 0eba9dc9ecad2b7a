"""What the commands print: for people on a terminal, plain in a pipe, one JSON object for machines."""

import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sync_tools.errors import SyncError

if TYPE_CHECKING:
    from rich.console import Console

# Control characters of content must not reach a terminal: they could move the cursor or retitle the window.
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


# The user part of an address, and what stands in its query, may be a token; a path keeps one slash of the address, and a
# token that was not encoded may hold any character.
CREDENTIALS = re.compile(r"(\w:/{1,2})[^\s'\"]*@")
QUERY = re.compile(r"(\w:/{1,2}[^\s?]*\?)[^\s)'\"]+")


def without_secrets(text: str) -> str:
    """Text with the user part and the query of addresses blanked."""
    return QUERY.sub(r"\1***", CREDENTIALS.sub(r"\1***@", text))


def clean(text: str) -> str:
    """Text that may be printed: control and direction characters made visible."""
    return CONTROL.sub(lambda m: f"\\x{ord(m[0]):02x}" if ord(m[0]) < 256 else f"\\u{ord(m[0]):04x}", text)


def console(*, stderr: bool = False) -> "Console":
    """A rich console that honours NO_COLOR and is plain where nobody watches."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() or "COLUMNS" in os.environ else 120
    return Console(stderr=stderr, highlight=False, soft_wrap=not stream.isatty(), width=width)


def is_plain() -> bool:
    """Whether what is printed is for a pipe or a file, where nobody asked for colours: it needs no console then."""
    return not sys.stdout.isatty() and not {"FORCE_COLOR", "TTY_COMPATIBLE"} & os.environ.keys()


def fitted(line: str) -> str:
    """A row of a table: it ends at the edge of a terminal, where a wrapped row would break the columns; whole in a pipe."""
    out = console()
    if not out.is_terminal:
        return line
    from rich.text import Text

    text = Text(line)
    text.truncate(out.width, overflow="ellipsis")
    return text.plain


@contextmanager
def watched(quiet: bool, first: str = "reading upstream") -> Iterator[Callable[[str], None]]:
    """A line that says what is being done, on a terminal only."""
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.markup import escape

    with console(stderr=True).status(escape(clean(first))) as status:
        yield lambda step: status.update(escape(clean(step)))


def print_json(value: dict[str, Any]) -> None:
    """The one object of `--json`; nothing else goes to standard output."""
    sys.stdout.write(json.dumps({"schema": 1, **value}, ensure_ascii=True) + "\n")


def print_error(error: SyncError, as_json: bool) -> None:
    """Two lines on standard error, and for programs the object on standard output; no credentials in either."""
    what, where, fix = (without_secrets(text) for text in (error.what, error.where, error.fix))
    if as_json:
        print_json({"error": {"what": what, "where": where, "fix": fix}})
    place = f" ({_line(where)})" if where else ""
    sys.stderr.write(f"sync: {_line(what)}{place}\n      {_line(fix)}\n")


def _line(text: str) -> str:
    return " ".join(clean(text.replace("\t", " ")).split("\n"))
