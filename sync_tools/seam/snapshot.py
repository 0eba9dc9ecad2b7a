"""What an engine's version accepts, as facts: read from a file, or asked of an interpreter that has the engine."""

import json
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path

from sync_tools.errors import SyncError
from sync_tools.files import write_atomically

CARRIED = "vllm.json"
TIMEOUT = 300.0


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
    return _parse(place.read_text("utf-8"), "the snapshot in sync_tools/seam/tables")


def load(path: Path) -> Snapshot:
    """A snapshot's file. Raises SyncError where it is none."""
    try:
        return _parse(path.read_text("utf-8"), str(path))
    except OSError as e:
        raise SyncError(f"cannot read the snapshot: {e.strerror}", str(path), FIX) from e
    except (ValueError, KeyError, TypeError, AttributeError) as e:
        raise SyncError("not a snapshot of an engine", str(path), FIX) from e


FIX = "make one with `vime-sync seam snapshot --engine PYTHON --out FILE`"


def _parse(text: str, origin: str) -> Snapshot:
    raw = json.loads(text)
    facts = {str(key): str(value) for key, value in raw["facts"].items()}
    return Snapshot(str(raw["engine"]), str(raw["version"]), facts, frozenset(raw["asked"]), origin)


def take(python: str, names: Iterable[str]) -> Snapshot:
    """What the engine of an interpreter accepts. It is imported there, never here. Raises SyncError where there is none."""
    with tempfile.TemporaryDirectory(prefix="sync-seam-") as folder, as_file(files("sync_tools.seam")) as package:
        out = Path(folder) / "snapshot.json"
        # Isolated, so that neither this process's variables nor a module in the folder stands in for the engine's own.
        command = [python, "-I", str(package / "probe.py"), str(out), *sorted(names)]
        try:
            ended = subprocess.run(
                command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as e:
            raise SyncError(f"the interpreter does not run: {e}", python, "name a Python that has vLLM") from e
        if ended.returncode or not out.is_file():
            said = ended.stderr.decode("utf-8", "replace").strip().splitlines()
            raise SyncError(
                f"cannot look at the engine: {said[-1] if said else ended.returncode}",
                python,
                "name a Python that has vLLM",
            )
        return _parse(out.read_text("utf-8"), python)


def save(snapshot: Snapshot, path: Path) -> None:
    """Write a snapshot's file, one fact a line, so that two of them can be compared by eye."""
    value = {
        "engine": snapshot.engine,
        "version": snapshot.version,
        "asked": sorted(snapshot.asked),
        "facts": dict(sorted(snapshot.facts.items())),
    }
    write_atomically(path, (json.dumps(value, indent=0, ensure_ascii=True) + "\n").encode())
