"""What was read from a package, on disk: valid for one installed version, written whole or not, and read again when broken."""

import json
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

_FORM = 1
"""Of the cache file; another form is not read."""


def folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Where the cache is."""
    return Path(environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "vime" / "options"


def key(*parts: str) -> str:
    """A file name for what `parts` say."""
    return sha256("\0".join(parts).encode()).hexdigest()[:20]


def read(name: str) -> list[dict[str, Any]] | None:
    """The rows; None where there are none, they cannot be read, or a source has changed since."""
    try:
        entry = json.loads((folder() / f"{name}.json").read_text("utf-8"))
        if entry["form"] != _FORM or any(_stamp(path) != stamp for path, stamp in entry["sources"]):
            return None
        rows = entry["rows"]
        return rows if rows and all(isinstance(row["name"], str) for row in rows) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write(name: str, rows: list[dict[str, Any]], sources: list[str]) -> None:
    """Keep the rows; a cache that cannot be written is done without."""
    entry = {"form": _FORM, "rows": rows, "sources": [(path, _stamp(path)) for path in sources]}
    with suppress(OSError):
        folder().mkdir(parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(dir=folder(), suffix=".tmp")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(entry, file)
            Path(draft).replace(folder() / f"{name}.json")
        except OSError:
            Path(draft).unlink(missing_ok=True)


def _stamp(path: str) -> list[int]:
    status = Path(path).stat()
    return [status.st_size, status.st_mtime_ns]
