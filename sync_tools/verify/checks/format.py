"""The touched files pass through the fork's formatters unchanged."""

from collections.abc import Iterator

from sync_tools.formatters import format_files
from sync_tools.verify.model import Context, Finding
from sync_tools.verify.source import Source


def formatting(context: Context) -> Iterator[Finding]:
    formatters = context.config.formatting
    files = {s.path: s for s in context.files()}
    if not formatters or not files:
        return
    formatted = format_files({path: source.data for path, source in files.items()}, formatters)
    for path, data in formatted.items():
        if data != files[path].data:
            line = _first_difference(files[path], data)
            names = ", ".join(f.name for f in formatters)
            yield Finding(path, line, "format.differs", f"{names} would change the file", f"run {names} on it")


def _first_difference(source: Source, formatted: bytes) -> int:
    before, after = source.data.split(b"\n"), formatted.split(b"\n")
    return next((n for n, (a, b) in enumerate(zip(before, after), 1) if a != b), min(len(before), len(after)))
