"""A folder that an example fills: all of it at once, and never in place of something else."""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

STAMP = "prepared.json"
"""The file by which a folder is known that was filled before."""


@contextmanager
def filled(out: Path) -> Iterator[Path]:
    """A new folder to fill, which takes the place of `out` where the block ends well. Exits with 2 where `out` holds
    something else."""
    refuse_to_overwrite(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f"{out.name}.", dir=out.parent) as scratch:
        folder = Path(scratch) / "out"
        folder.mkdir()
        yield folder
        shutil.rmtree(out, ignore_errors=True)
        folder.rename(out)


def refuse_to_overwrite(out: Path) -> None:
    """A folder of something else stays."""
    if out.exists() and not (out / STAMP).exists() and (not out.is_dir() or any(out.iterdir())):
        print(f"error: {out} holds something else; name another folder with --out", file=sys.stderr)
        raise SystemExit(2)
