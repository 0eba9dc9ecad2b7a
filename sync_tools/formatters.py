"""The fork's formatters, called by name on a file's text.

The port passes images through them before the merge, and the format check passes the merged files. Nothing of a tree is
read: each runs in an empty folder, with the arguments of sync.toml alone, no configuration, no plugins, no cache.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from sync_tools.config import Formatter
from sync_tools.errors import SyncError
from sync_tools.policy import matches

TIMEOUT = 60.0
USAGE = re.compile(r"no such option|unrecognized arguments|unexpected argument|invalid (?:value|choice)", re.IGNORECASE)
# What each is told besides its arguments: change the files in place, read no configuration.
COMMANDS = {
    "black": ("black", "--quiet", "--workers", "1", "--config", "{empty}"),
    "isort": ("isort", "--quiet", "--settings-file", "{empty}"),
    "ruff": ("ruff", "check", "--quiet", "--isolated", "--no-cache", "--fix-only", "--exit-zero"),
    "ruff-format": ("ruff", "format", "--quiet", "--isolated", "--no-cache"),
}


def format_bytes(path: str, data: bytes, formatters: Sequence[Formatter]) -> bytes:
    """A file as the formatters leave it; as it was where none matches its path or it does not parse."""
    return format_files({path: data}, formatters)[path]


def format_files(files: Mapping[str, bytes], formatters: Sequence[Formatter]) -> dict[str, bytes]:
    """The files as the formatters, in their order, leave them. One process a formatter, however many files.

    Raises SyncError when a formatter is not installed or does not end.
    """
    return dict(zip(files, format_all(list(files.items()), formatters), strict=True))


def format_all(files: Sequence[tuple[str, bytes]], formatters: Sequence[Formatter]) -> list[bytes]:
    """The same for (path, bytes) of which several may have one path."""
    done = [data for _, data in files]
    for formatter in formatters:
        chosen = [n for n, (path, _) in enumerate(files) if matches(formatter.match, path)]
        if chosen:
            formatted = _run(formatter, [(files[n][0], done[n]) for n in chosen])
            for n, data in zip(chosen, formatted, strict=True):
                done[n] = data
    return done


def _run(formatter: Formatter, files: Sequence[tuple[str, bytes]]) -> list[bytes]:
    program, *options = COMMANDS[formatter.name]
    executable = _find(program, formatter.name)
    with tempfile.TemporaryDirectory(prefix="sync-format-") as folder:
        root = Path(folder)
        empty = root / "empty.toml"
        empty.write_bytes(b"")
        places = [root / "files" / str(n) / PurePosixPath(path).name for n, (path, _) in enumerate(files)]
        for place, (_, data) in zip(places, files, strict=True):
            place.parent.mkdir(parents=True)
            place.write_bytes(data)
        command = [executable, *(o.format(empty=empty) for o in options), *formatter.args, "--"]
        try:
            ended = subprocess.run(
                [*command, *map(str, places)],
                cwd=root,
                env=_environment(root),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=TIMEOUT,
                check=False,
            )
        except subprocess.TimeoutExpired as e:
            raise SyncError(
                f"{program} did not end within {TIMEOUT:.0f} s", "formatters", "run it by hand on the file"
            ) from e
        _check_usage(program, ended)
        return [place.read_bytes() for place in places]


def _check_usage(program: str, ended: subprocess.CompletedProcess[bytes]) -> None:
    """Files that do not parse are left as they are and give an error code too: only wrong arguments are an error."""
    said = ended.stderr.decode("utf-8", "replace")
    wrong = next((line for line in said.splitlines() if USAGE.search(line)), None)
    if ended.returncode and wrong:
        raise SyncError(f"{program}: {wrong.strip()}", "formatters", "correct its `args` in sync.toml")


def _find(program: str, name: str) -> str:
    """The program beside the running Python, else on PATH."""
    beside = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    found = shutil.which(program, path=beside)
    if found is None:
        fix = f"install it (`pip install {program}`), or leave it out of sync.toml"
        raise SyncError(f"the formatter `{program}` is not installed", f"formatters: {name}", fix)
    return found


def _environment(home: Path) -> dict[str, str]:
    """A bare environment, in which no user configuration is found."""
    kept = {k: v for k, v in os.environ.items() if k in ("PATH", "SYSTEMROOT", "LANG", "LC_ALL", "TMPDIR")}
    return kept | {"HOME": str(home), "XDG_CONFIG_HOME": str(home), "XDG_CACHE_HOME": str(home)}
