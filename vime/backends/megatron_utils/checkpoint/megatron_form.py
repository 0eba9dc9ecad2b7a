"""Weights out of Megatron-LM's own checkpoints (torch_dist), as upstream writes them and its conversion tools make them.

These are pickled files: as with torch.load, read only those of a source that you trust.
"""

from collections.abc import Sequence
from pathlib import Path

import torch
from megatron.core import dist_checkpointing
from megatron.core.dist_checkpointing.core import CheckpointingException
from megatron.core.utils import unwrap_model
from torch.distributed.checkpoint.api import CheckpointException

from vime.backends.megatron_utils.checkpoint.errors import CheckpointError


def is_megatron_form(folder: Path) -> bool:
    """Whether the folder of one iteration is of this form."""
    return (folder / "metadata.json").is_file()


@torch.no_grad()
def load_megatron_weights(folder: Path, model: Sequence[torch.nn.Module]) -> None:
    """Fill `model`, whatever layout wrote the checkpoint and whichever layers, fused or not. Every rank calls it.

    Raises CheckpointError when it is not whole or of another model.
    """
    (chunk,) = unwrap_model(list(model))
    parameters = dict(chunk.named_parameters())
    wanted = {name: part for name, part in chunk.sharded_state_dict(prefix="").items() if name in parameters}
    try:
        loaded = dist_checkpointing.load({"model": wanted}, str(folder))["model"]
    except (OSError, KeyError, ValueError, RuntimeError, CheckpointingException, CheckpointException) as error:
        fix = "name a checkpoint of this model, or its Hugging Face form"
        raise CheckpointError(str(folder), f"its weights cannot be read ({error})", fix) from error
    for name, parameter in parameters.items():
        parameter.copy_(loaded[name])
