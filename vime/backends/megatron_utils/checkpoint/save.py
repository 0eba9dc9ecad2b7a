"""Writing a checkpoint: every rank writes its files into a hidden folder, and rank 0 gives it its name when all are whole."""

import json
import shutil
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import torch
from megatron.core import parallel_state
from safetensors.torch import save_file

from vime.backends.megatron_utils.checkpoint.errors import CheckpointError
from vime.backends.megatron_utils.checkpoint.layout import FORMAT, STATE, random_file, tensors_file
from vime.backends.megatron_utils.checkpoint.sharded import FOLDER, is_distributed, write_sharded
from vime.backends.megatron_utils.checkpoint.state import TrainState, random_state, tensors
from vime.backends.megatron_utils.weights.mapping import refuse_pipeline, share_of
from vime.utils.atomic_file import sync, write_atomic
from vime.utils.atomic_folder import replace_folder, sync_tree
from vime.utils.checkpoint_names import MARKER, iteration_folder


def save_checkpoint(
    root: str | Path, iteration: int, state: TrainState, beside: Callable[[Path], None] | None = None
) -> Path:
    """Write `root`/iter_ITERATION and then the marker that names it; every rank calls it, on a common file system.

    `beside(folder)` is called on rank 0 to put files of the run into the same checkpoint. When it returns, all has
    reached the disk. Killed at any moment, the marker names the checkpoint before, whole, or this one, whole.
    Raises CheckpointError on every rank when one of them could not write; nothing of the new one is left then.
    """
    refuse_pipeline()
    root = Path(root)
    target = iteration_folder(root, iteration)
    hidden = root / f".{target.name}.new"
    first = torch.distributed.get_rank() == 0
    try:
        _together(target, partial(_prepare, hidden) if first else _nothing)
        _together(target, partial(_write, hidden, state, beside))
        _together(target, partial(_publish, hidden, target, iteration) if first else _nothing)
    finally:
        if first:
            shutil.rmtree(hidden, ignore_errors=True)
    return target


def _nothing() -> None:
    """What a rank has to do while another one works."""


def _prepare(hidden: Path) -> None:
    for left_by_a_kill in hidden.parent.glob(".iter_*.new"):
        shutil.rmtree(left_by_a_kill)
    hidden.mkdir(parents=True)


def _write(hidden: Path, state: TrainState, beside: Callable[[Path], None] | None) -> None:
    share = share_of(state.model)
    rank = torch.distributed.get_rank()
    if is_distributed(state.optimizer):
        write_sharded(hidden / FOLDER, state)
    elif parallel_state.get_data_parallel_rank(with_context_parallel=True) == 0:
        _write_tensors(hidden / tensors_file(share.rank, share.size), tensors(state))
    _write_tensors(hidden / random_file(rank), random_state())
    if rank == 0:
        (hidden / STATE).write_text(json.dumps(_facts(state, share.size), indent=2) + "\n", encoding="utf-8")
        if beside is not None:
            beside(hidden)
            sync_tree(hidden)
        sync(hidden / STATE)


def _write_tensors(path: Path, values: Mapping[str, torch.Tensor]) -> None:
    save_file({name: value.cpu().contiguous() for name, value in values.items()}, path)
    sync(path)


def _facts(state: TrainState, tp_size: int) -> dict[str, Any]:
    groups = state.optimizer.param_groups if state.optimizer else []
    return {
        "format": FORMAT,
        "tensor_parallel": tp_size,
        "world": torch.distributed.get_world_size(),
        "optimizer": state.optimizer is not None,
        "group_steps": [group.get("step") for group in groups],
        "samples": state.scheduler.num_steps if state.scheduler else None,
    }


def _publish(hidden: Path, target: Path, iteration: int) -> None:
    sync(hidden)
    replace_folder(hidden, target)
    write_atomic(target.parent / MARKER, str(iteration).encode())


def _together(target: Path, work: Callable[[], None]) -> None:
    """Do this rank's work, wait for the others, and raise on every rank what went wrong on one."""
    wrong: Exception | None = None
    try:
        work()
    except Exception as error:
        wrong = error
    told: list[str | None] = [None] * torch.distributed.get_world_size()
    torch.distributed.all_gather_object(told, None if wrong is None else str(wrong) or repr(wrong))
    failed = [f"rank {rank}: {what}" for rank, what in enumerate(told) if what is not None]
    if failed:
        fix = "make room there, or name another folder with --save; the checkpoint before is whole"
        raise CheckpointError(str(target), f"it cannot be written ({'; '.join(failed)})", fix) from wrong
