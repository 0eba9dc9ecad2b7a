"""Where things are: FOLDER/latest_checkpointed_iteration.txt names the last whole one of FOLDER/iter_0000000.

In one of them: state.json, a tensors file of each tensor-parallel rank, the random state of each rank, and whatever the
run put beside. The names of the marker and of the folders are Megatron-LM's.
"""

from pathlib import Path

from vime.backends.megatron_utils.checkpoint.errors import CheckpointError
from vime.utils.checkpoint_names import MARKER, iteration_folder, iteration_of

STATE = "state.json"
RELEASE = "release"
FORMAT = 1


def tensors_file(tp_rank: int, tp_size: int) -> str:
    """Of one tensor-parallel rank: its share of weights and optimizer state."""
    return f"tensors-{tp_rank + 1:03d}-of-{tp_size:03d}.safetensors"


def random_file(rank: int) -> str:
    """Of one rank: its random state."""
    return f"random-{rank:05d}.safetensors"


def is_checkpoint(path: str | Path) -> bool:
    """Whether there is a checkpoint of a trainer, by upstream's rule: a marker, or the name of one iteration."""
    return (Path(path) / MARKER).is_file() or iteration_of(path) is not None


def latest_iteration(root: str | Path) -> int | None:
    """The number of the last whole checkpoint below `root`; None when there is none."""
    said = _marked(Path(root))
    return said if isinstance(said, int) else None


def _marked(root: Path) -> int | str | None:
    """What the marker says: a number, or "release" for weights that no run made; None without a marker."""
    try:
        text = (root / MARKER).read_text("utf-8").strip()
        return text if text == RELEASE else int(text)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        fix = "write the number of a whole checkpoint into it, or remove it to begin anew"
        raise CheckpointError(str(root / MARKER), f"it cannot be read ({error})", fix) from error


def find(path: str | Path, iteration: int | None = None) -> tuple[Path, int]:
    """(folder, number) of a checkpoint: `path` itself, or the one below it with that number, the last for None.

    The number of a release is -1: no rollout came before it.
    """
    path = Path(path)
    if (own := iteration_of(path)) is not None:
        return path, own
    known = _marked(path) if iteration is None else iteration
    if known is None:
        raise CheckpointError(str(path), "there is no checkpoint", "name a folder with one, or leave out --load")
    return (path / RELEASE, -1) if known == RELEASE else (iteration_folder(path, int(known)), int(known))
