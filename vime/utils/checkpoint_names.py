"""Names in a folder of checkpoints, which are Megatron-LM's: a marker that names the last, and a folder for each."""

import re
from pathlib import Path

MARKER = "latest_checkpointed_iteration.txt"


def iteration_folder(root: Path, iteration: int) -> Path:
    """Of one checkpoint."""
    return root / f"iter_{iteration:07d}"


def iteration_of(path: str | Path) -> int | None:
    """The number of the checkpoint whose folder `path` is; None for any other folder."""
    found = re.fullmatch(r"iter_(\d{7})", Path(path).name)
    return int(found[1]) if found else None


def root_of(path: str | Path) -> Path:
    """The folder of all checkpoints, where `path` is it, or one of them."""
    return Path(path) if iteration_of(path) is None else Path(path).parent
