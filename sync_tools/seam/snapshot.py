"""What an engine's version accepts, as facts: read from a file, or asked of an interpreter that has the engine."""

import json
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from sync_tools.errors import SyncError
from sync_tools.files import write_out
from sync_tools.seam.outside import run

CARRIED = "vllm.json"
TIMEOUT = 300.0


class Written(BaseModel):
    """A snapshot's file."""

    model_config = ConfigDict(frozen=True, strict=True)

    engine: str
    version: str
    asked: tuple[str, ...]
    facts: dict[str, str]


@dataclass(frozen=True)
class Snapshot:
    """`facts` are keys such as `route /pause ?mode` with a type or the like; `asked` are the dotted names looked for.
    `origin` says where it comes from."""

    engine: str
    version: str
    facts: Mapping[str, str]
    asked: frozenset[str]
    origin: str

    def of(self, kind: str) -> frozenset[str]:
        """The names of one kind of facts, without what hangs on them."""
        named = (key[len(kind) + 1 :] for key in self.facts if key.startswith(f"{kind} "))
        return frozenset(name for name in named if " " not in name)


@cache
def carried() -> Snapshot:
    """The snapshot that this installation brings."""
    place = files("sync_tools.seam").joinpath("tables", CARRIED)
    return _parse(place.read_bytes(), "the snapshot in sync_tools/seam/tables")


def load(path: Path) -> Snapshot:
    """A snapshot's file. Raises SyncError where it is none."""
    try:
        return _parse(path.read_bytes(), str(path))
    except OSError as e:
        raise SyncError(f"cannot read the snapshot: {e.strerror}", str(path), FIX) from e
    except ValueError as e:
        raise SyncError("not a snapshot of an engine", str(path), FIX) from e


ENGINE = "name a Python that has vLLM"
FIX = "make one with `vime-sync seam snapshot --engine PYTHON --out FILE`"


def _parse(content: bytes, origin: str) -> Snapshot:
    """Raises ValueError."""
    raw = Written.model_validate_json(content)
    return Snapshot(raw.engine, raw.version, raw.facts, frozenset(raw.asked), origin)


def take(python: str, names: Iterable[str]) -> Snapshot:
    """What the engine of an interpreter accepts. It is imported there, never here. Raises SyncError where there is none."""
    with tempfile.TemporaryDirectory(prefix="sync-seam-") as folder, as_file(files("sync_tools.seam")) as package:
        out = Path(folder) / "snapshot.json"
        # Isolated, so that neither this process's variables nor a module in the folder stands in for the engine's own.
        # A path is meant from here, not from the folder that it runs in; a venv's link is not followed.
        program = str(Path(python).absolute()) if "/" in python else python
        try:
            status, said = run([program, "-I", str(package / "probe.py"), str(out), *sorted(names)], folder, TIMEOUT)
        except subprocess.TimeoutExpired as e:
            raise SyncError(f"the interpreter did not end within {TIMEOUT:.0f} s", python, ENGINE) from e
        except (OSError, ValueError) as e:
            raise SyncError(f"the interpreter does not run: {e}", python, ENGINE) from e
        if status or not out.is_file():
            raise SyncError(
                f"cannot look at the engine: {said or (f'it ended with {status}' if status else 'it wrote nothing')}",
                python,
                ENGINE,
            )
        try:
            return _parse(out.read_bytes(), python)
        except ValueError as e:
            raise SyncError("what the interpreter wrote is not a snapshot", python, ENGINE) from e


def save(snapshot: Snapshot, path: Path) -> None:
    """Write a snapshot's file, one fact a line, so that two of them can be compared by eye."""
    value = {
        "engine": snapshot.engine,
        "version": snapshot.version,
        "asked": sorted(snapshot.asked),
        "facts": dict(sorted(snapshot.facts.items())),
    }
    write_out(path, (json.dumps(value, indent=0, ensure_ascii=True) + "\n").encode())
