"""Run the command line and turn every failure that a person can mend into two lines and exit code 2."""

import os
import signal
import sys
import traceback
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path
from types import FrameType

import typer

from sync_tools.errors import SyncError
from sync_tools.gitio import GitFailed, forget_surroundings
from sync_tools.terminal import print_error

# Typer carries a click of its own, whose classes are reached through the ones that it exports.
USAGE, CLICK = typer.BadParameter.__mro__[1:3]


def end_tidily() -> None:
    """Let a signal that ends the process be an interruption as from the keyboard, so that nothing half done is left.
    Only for a process that is `sync` alone."""

    def ended(by: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    for by in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(by) is signal.SIG_DFL:
            signal.signal(by, ended)


def run_app(app: typer.Typer, arguments: list[str]) -> int:
    """The exit code of `sync ARGUMENTS`."""
    as_json = "--json" in arguments
    forget_surroundings()
    _open_streams()
    try:
        code = _run(app, arguments, as_json)
        sys.stdout.flush()
        return code
    except OSError as e:
        # Nobody reads, or it cannot be written: what is left to say must not be tried again when the process ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(e, BrokenPipeError):
            return 141
        with suppress(OSError):
            print_error(
                SyncError(f"cannot write the answer: {e.strerror}", "standard output", "make room for it"), False
            )
        return 2


def _open_streams() -> None:
    """A stream that whoever started the process has closed takes what is said, and no file is opened in its place; one
    that cannot spell a character shows its number."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, TextIOWrapper) and stream.errors in ("strict", "surrogateescape"):
            stream.reconfigure(errors="backslashreplace")


def _run(app: typer.Typer, arguments: list[str], as_json: bool) -> int:
    try:
        result = app(arguments, standalone_mode=False, prog_name="vime-sync")
        return result if isinstance(result, int) else 0
    except SystemExit as e:  # what click makes of a reader that is gone, in every mode
        raise BrokenPipeError from e
    except SyncError as e:
        error = e
    except GitFailed as e:
        error = SyncError(f"git failed: {e}", " ".join(e.command[:2]), "the repository may be damaged: git fsck")
    except USAGE as e:
        command = e.ctx.command_path if e.ctx else "vime-sync"
        error = SyncError(e.format_message(), command, f"see {command} --help")
    except CLICK as e:
        error = SyncError(e.format_message(), "", "see vime-sync --help")
    except OSError as e:
        if isinstance(e, BrokenPipeError):
            raise
        error = SyncError(e.strerror or str(e), str(e.filename or ""), "check that the file can be read and written")
    except (KeyboardInterrupt, typer.Abort):
        return 130
    except Exception as e:
        if os.environ.get("SYNC_TRACEBACK"):
            raise
        error = _bug(e)
    print_error(error, as_json)
    return 2


def _bug(error: Exception) -> SyncError:
    """What nobody foresaw, at the deepest of our lines that it passed."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "sync_tools" in f.filename]
    place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    said = " ".join(str(error).split())[:200]
    fix = "this is a mistake of vime-sync: SYNC_TRACEBACK=1 shows where, for a report"
    return SyncError(f"stopped on {type(error).__name__}: {said}", place, fix)
