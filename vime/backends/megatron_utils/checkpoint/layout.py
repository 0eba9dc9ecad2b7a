"""Where things are: FOLDER/latest_checkpointed_iteration.txt names the last whole one of FOLDER/iter_0000000.

In one of them: state.json, a tensors file of each tensor-parallel rank, the random state of each rank, and whatever the
run put beside. The names of the marker and of the folders are Megatron-LM's.
"""

import re
from pathlib import Path

from vime.backends.megatron_utils.checkpoint.errors import CheckpointError

MARKER = "latest_checkpointed_iteration.txt"
STATE = "state.json"
FORMAT = 1


def iteration_folder(root: Path, iteration: int) -> Path:
    """Of one checkpoint."""
    return root / f"iter_{iteration:07d}"


def tensors_file(tp_rank: int, tp_size: int) -> str:
    """Of one tensor-parallel rank: its share of weights and optimizer state."""
    return f"tensors-{tp_rank + 1:03d}-of-{tp_size:03d}.safetensors"


def random_file(rank: int) -> str:
    """Of one rank: its random state."""
    return f"random-{rank:05d}.safetensors"


def is_checkpoint(path: str | Path) -> bool:
    """Whether there is a checkpoint of a trainer, by upstream's rule: a marker, or the name of one iteration."""
    return (Path(path) / MARKER).is_file() or re.fullmatch(r"iter_\d{7}", Path(path).name) is not None


def latest_iteration(root: str | Path) -> int | None:
    """The number of the last whole checkpoint below `root`; None when there is none."""
    marker = Path(root) / MARKER
    try:
        return int(marker.read_text("utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        fix = "write the number of a whole checkpoint into it, or remove it to begin anew"
        raise CheckpointError(str(marker), f"it cannot be read ({error})", fix) from error


def find(path: str | Path, iteration: int | None = None) -> tuple[Path, int]:
    """(folder, number) of a checkpoint: `path` itself, or the one below it with that number, the last for None."""
    path = Path(path)
    if found := re.fullmatch(r"iter_(\d{7})", path.name):
        folder, number = path, int(found[1])
    elif (known := latest_iteration(path) if iteration is None else iteration) is not None:
        folder, number = iteration_folder(path, known), known
    else:
        raise CheckpointError(str(path), "there is no checkpoint", "name a folder with one, or leave out --load")
    if not (folder / STATE).is_file():
        foreign = (folder / "metadata.json").is_file() or any(folder.glob("mp_rank_*"))
        what = "it is a checkpoint of Megatron-LM, which is not read here" if foreign else f"it has no {STATE}"
        raise CheckpointError(str(folder), what, "export it to Hugging Face's form, or name another checkpoint")
    return folder, number
