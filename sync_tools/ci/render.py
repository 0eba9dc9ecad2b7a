"""From the template to the workflow: the rendered text under a banner that says so."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path
from tempfile import TemporaryFile

from sync_tools.ci.matrix import MAX_TEMPLATE
from sync_tools.errors import SyncError

RULE = "#" * 80
BANNER = f"{RULE}\n# This file is generated from {{template}} by `vime-sync ci render`. Do not edit it.\n{RULE}\n"
MAX_OUTPUT = 4_000_000
SECONDS = 30  # the sandbox limits its processor time to less; this is for what waits, and for a busy machine


@lru_cache(maxsize=8)
def render(template: bytes, where: str = "template") -> bytes:
    """What the template says, without a banner; a port asks for the same one when it renders and when it checks. Raises
    SyncError for a template that is wrong, tries to leave its sandbox, or does not come to an end."""
    with rendering(template, where) as rendered:
        return rendered()


@contextmanager
def rendering(template: bytes, where: str) -> Iterator[Callable[[], bytes]]:
    """Begin to render; what is yielded waits for the end, and raises as `render` does."""
    if len(template) > MAX_TEMPLATE:
        yield partial(_refuse_size, where)
        return
    command = [sys.executable, "-I", str(Path(__file__).with_name("sandbox.py")), str(MAX_OUTPUT)]
    with TemporaryFile() as given:
        given.write(template)
        given.seek(0)
        with subprocess.Popen(
            command, stdin=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=_environment(), cwd="/"
        ) as process:
            try:
                yield partial(_output, process, where)
            finally:
                process.kill()


def _refuse_size(where: str) -> bytes:
    raise SyncError("the template is too big", where, f"keep it under {MAX_TEMPLATE} bytes")


def _output(process: subprocess.Popen[bytes], where: str) -> bytes:
    try:
        out, err = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired as e:
        raise SyncError("the template does not come to an end", where, "take the loop out of it") from e
    if process.returncode:
        why = err.decode("utf-8", "replace")[-300:] or "it takes too much time or memory"
        raise SyncError(f"the template cannot be rendered: {_printable(why)}", where, "mend the template")
    return out


def workflow(template: bytes, where: str, standing: bytes | None = None, banner: str | None = None) -> bytes:
    """The workflow file that a template renders to."""
    return bannered(render(template, where), where, standing, banner)


def bannered(body: bytes, where: str, standing: bytes | None, banner: str | None) -> bytes:
    """What the template `where` renders to, under a banner: `banner` (`{template}` in it is the template's path), else
    the one that the standing file has, else ours."""
    if banner is None and standing is not None and (kept := split_banner(standing, body)):
        return kept + body
    return (BANNER if banner is None else _lines(banner)).replace("{template}", where).encode() + body


def split_banner(standing: bytes, body: bytes) -> bytes:
    """The head of a workflow that is not the template's own: its comment lines, and the empty lines after them."""
    comments = _comments(standing)
    own = _comments(body)
    empty = _empty(standing[len(comments) :]) - _empty(body[len(own) :])
    return comments.removesuffix(own) + b"\n" * (empty if not own else 0)


def _environment() -> dict[str, str]:
    """What an interpreter needs to start, and none of the caller's secrets."""
    return {name: os.environ[name] for name in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH") if name in os.environ}


def _comments(data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    end = next((at for at, line in enumerate(lines) if not line.startswith(b"#")), len(lines))
    return b"".join(lines[:end])


def _empty(data: bytes) -> int:
    """How many empty lines it begins with."""
    return len(data) - len(data.lstrip(b"\n"))


def _lines(banner: str) -> str:
    """A banner as comment lines, whatever it was given as."""
    return "".join(f"{line if line.startswith('#') else f'# {line}'.rstrip()}\n" for line in banner.splitlines())


def _printable(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
