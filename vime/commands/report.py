"""`vime report RUN`: one self-contained page about a run."""

import sys
import webbrowser
from collections.abc import Sequence
from pathlib import Path

from vime.observability.run_read import PARTS, NoRun, read_run
from vime.utils.atomic_file import write_atomic

USAGE = """vime report RUN [--out FILE] [--open]

Writes one HTML page about the run whose log is in the folder RUN (--run-dir of `vime train`): plots, sample texts, and
what the result shows. The page needs nothing else and loads nothing.

  RUN          the folder, or a folder of runs, of which the latest is taken
  --out FILE   where to write; RUN/report.html when left out
  --open       show it in the browser
"""


class WrongWords(Exception):
    """The command line makes no sense."""


def run(argv: Sequence[str]) -> int:
    """The exit status: 0, or 2 where there is no such run or the words are wrong."""
    try:
        show = "--open" in argv
        folder, out = folder_and_out([word for word in argv if word != "--open"])
        page = write(folder, out)
    except WrongWords as wrong:
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

    run = read_run(latest(folder))
    page = render(run).encode("utf-8", "backslashreplace")
    return write_atomic(out or run.folder / "report.html", page, durable=False)


def latest(folder: Path) -> Path:
    """The folder itself where it has a log, else the latest of those in it that have one."""
    if any((folder / name).exists() for name in PARTS):
        return folder
    logs = sorted(folder.glob("*/events.jsonl"), key=lambda path: path.stat().st_mtime)
    return logs[-1].parent if logs else folder


def folder_and_out(words: Sequence[str]) -> tuple[Path, Path | None]:
    """RUN and FILE out of `RUN [--out FILE]`; WrongWords where they are something else."""
    folders: list[str] = []
    out: Path | None = None
    left = iter(words)
    for word in left:
        if word == "--out" or word.startswith("--out="):
            value = word.partition("=")[2] or next(left, "")
            if not value:
                raise WrongWords("--out: the file is missing")
            out = Path(value)
        elif word.startswith("-"):
            raise WrongWords(f"{word}: no such option")
        else:
            folders.append(word)
    if len(folders) != 1:
        raise WrongWords("name one folder of a run" if not folders else f"{len(folders)} folders are named; name one")
    return Path(folders[0]), out
