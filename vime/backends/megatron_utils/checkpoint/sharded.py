"""The form for the distributed optimizer (GPUs), whose ranks each keep a part of every parameter's state: torch_dist.

All ranks write one set of files together, which any layout can read. On a CPU the optimizer keeps whole parameters, and
this form is not used: writing it takes 2 s and more, however small the model.
"""

from pathlib import Path
from typing import Any

import torch
from megatron.core import dist_checkpointing
from megatron.core.utils import unwrap_model

from vime.backends.megatron_utils.checkpoint.state import TrainState
from vime.backends.megatron_utils.optimizer import ClippedOptimizer

FOLDER = "sharded"
"""Where it is in the folder of a checkpoint."""
_METADATA = {"distrib_optim_sharding_type": "fully_reshardable", "chained_optim_avoid_prefix": True}


def is_distributed(optimizer: ClippedOptimizer | None) -> bool:
    """Whether a rank of the optimizer has only a part of each parameter's state."""
    parts = optimizer.parts if optimizer is not None else ()
    return any(part.config.use_distributed_optimizer for part in parts)


def write_sharded(folder: Path, state: TrainState) -> None:
    """Write weights and optimizer; every rank calls it."""
    folder.mkdir(exist_ok=True)
    dist_checkpointing.save(_sharded(state, loading=False), str(folder), content_metadata=_METADATA)


@torch.no_grad()
def read_sharded(folder: Path, state: TrainState) -> None:
    """Restore what write_sharded wrote; every rank calls it."""
    loaded = dist_checkpointing.load(_sharded(state, loading=True), str(folder))
    unwrap_model(state.model[0]).load_state_dict(loaded["model"], strict=False)
    if state.optimizer is not None:
        state.optimizer.inner.load_state_dict(loaded["optimizer"])


def _sharded(state: TrainState, loading: bool) -> dict[str, Any]:
    (chunk,) = unwrap_model(list(state.model))
    model = chunk.sharded_state_dict(prefix="", metadata=_METADATA)
    if state.optimizer is None:
        return {"model": model}
    optimizer = state.optimizer.inner.sharded_state_dict(model, is_loading=loading, metadata=_METADATA)
    return {"model": model, "optimizer": optimizer}
