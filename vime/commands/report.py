"""`vime report RUN`: one self-contained page about a run."""

import sys
import webbrowser
from collections.abc import Sequence
from pathlib import Path

from vime.observability.run_read import PARTS, NoRun, read_run

USAGE = """vime report RUN [--out FILE] [--open]

Writes one HTML page about the run whose log is in the folder RUN (--run-dir of `vime train`): plots, sample texts, and
what the result shows. The page needs nothing else and loads nothing.

  RUN          the folder, or a folder of runs, of which the latest is taken
  --out FILE   where to write; RUN/report.html when left out
  --open       show it in the browser
"""


class _WrongWords(Exception):
    """The command line makes no sense."""


def run(argv: Sequence[str]) -> int:
    """The exit status: 0, or 2 where there is no such run or the words are wrong."""
    try:
        folder, out, show = _words(list(argv))
        page = write(folder, out)
    except _WrongWords as wrong:
        print(f"error: {wrong}\n\n{USAGE}", end="", file=sys.stderr)
        return 2
    except (NoRun, OSError) as wrong:
        print(f"error: {wrong}", file=sys.stderr)
        return 2
    print(f"{page} ({page.stat().st_size / 1e6:.1f} MB)")
    if show:
        webbrowser.open(page.resolve().as_uri())
    return 0


def write(folder: Path, out: Path | None = None) -> Path:
    """Make the page of the run in `folder`, in place of an earlier one; NoRun where there is none."""
    from vime.observability.report import render

    page = render(read_run(latest(folder)))
    out = out or latest(folder) / "report.html"
    scratch = out.with_name(f".{out.name}.part")
    scratch.write_text(page, "utf-8", errors="backslashreplace")
    return scratch.replace(out)


def latest(folder: Path) -> Path:
    """The folder itself where it has a log, else the latest of those in it that have one."""
    if any((folder / name).exists() for name in PARTS):
        return folder
    logs = sorted(folder.glob("*/events.jsonl"), key=lambda path: path.stat().st_mtime)
    return logs[-1].parent if logs else folder


def _words(words: list[str]) -> tuple[Path, Path | None, bool]:
    show = "--open" in words
    words = [word for word in words if word != "--open"]
    out = None
    for place, word in enumerate(words):
        if word == "--out" or word.startswith("--out="):
            value = word.partition("=")[2] or (words[place + 1] if place + 1 < len(words) else "")
            if not value:
                raise _WrongWords("--out: the file is missing")
            out = Path(value)
            del words[place : place + (1 if "=" in word else 2)]
            break
    if unknown := [word for word in words if word.startswith("-")]:
        raise _WrongWords(f"{unknown[0]}: no such option")
    if len(words) != 1:
        raise _WrongWords("name one folder of a run" if not words else f"{len(words)} folders are named; name one")
    return Path(words[0]), out, show
