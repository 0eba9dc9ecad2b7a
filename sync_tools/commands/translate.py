"""`sync translate`."""

import sys
from pathlib import Path

from sync_tools.commands.options import Settings
from sync_tools.errors import SyncError
from sync_tools.paths import safe
from sync_tools.terminal import clean, print_json
from sync_tools.translate import Translator


def run(settings: Settings, file: str, path: str | None, explain: bool) -> int:
    """Translate one file; 1 where a site is left."""
    data = sys.stdin.buffer.read() if file == "-" else _read(Path(file))
    place = safe(path, "--path") if path else _place(file)
    style = settings.config.seam.style or "module"
    result = Translator(settings.config, style).file(place, data)
    if settings.json:
        text = result.data.decode("utf-8", "replace")
        applications = [
            {"rule": a.rule, "line": a.line, "column": a.column, "before": a.before, "after": a.after}
            for a in result.applications
        ]
        unresolved = [{"line": s.line, "column": s.column, "what": s.what, "why": s.why} for s in result.unresolved]
        print_json({"text": text, "applications": applications, "unresolved": unresolved})
    else:
        sys.stdout.buffer.write(result.data)
        sys.stdout.buffer.flush()
    if explain and not settings.json:
        for a in result.applications:
            sys.stderr.write(
                clean(f"{place}:{a.line}:{a.column}: {a.rule} {a.before} -> {a.after or '(dropped)'}") + "\n"
            )
    if not settings.json:
        for site in result.unresolved:
            sys.stderr.write(clean(f"{place}:{site.line}:{site.column}: unresolved: {site.what}: {site.why}") + "\n")
    return 1 if result.unresolved else 0


def _place(file: str) -> str:
    """The path that decides the kind of text, where none is given: a relative one as it is, else the file's name."""
    if file == "-":
        return "stdin.py"
    try:
        return safe(file, "FILE")
    except SyncError:
        return Path(file).name


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as e:
        raise SyncError(
            f"cannot read the file: {e.strerror}", str(path), "name a file of upstream's, or - for standard input"
        ) from e
