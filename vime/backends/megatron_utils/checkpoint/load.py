"""Reading a checkpoint, also into another number of tensor- and data-parallel ranks."""

import json
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from megatron.core.dist_checkpointing.core import CheckpointingException
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file
from torch import Tensor

from vime.backends.megatron_utils.checkpoint.errors import CheckpointError
from vime.backends.megatron_utils.checkpoint.layout import FORMAT, STATE, find, random_file, tensors_file
from vime.backends.megatron_utils.checkpoint.megatron_form import is_megatron_form, load_megatron_weights
from vime.backends.megatron_utils.checkpoint.sharded import FOLDER, is_distributed, read_sharded
from vime.backends.megatron_utils.checkpoint.state import WEIGHT, Held, TrainState, held, restore_random
from vime.backends.megatron_utils.weights.mapping import Share, refuse_pipeline, share_of
from vime.backends.megatron_utils.weights.reshard import reshard

_FIX = "name another checkpoint with --ckpt-step, or begin anew without --load"


def load_checkpoint(
    path: str | Path, state: TrainState, iteration: int | None = None, optimizer: bool = True, rng: bool = True
) -> int:
    """Restore `state` from the checkpoint at `path` (its own folder, or the one of all), and give its number.

    Of Megatron-LM's own form, weights only: `optimizer` has to be False there. Else weights; with `optimizer` the optimizer's state and where the schedule is (its lengths and rates stay as built);
    with `rng` the random state, when as many ranks wrote it. Weights and optimizer may be divided over another number of
    ranks. Raises CheckpointError when it is not there, not whole, or of another model; `state` is unusable then.
    """
    refuse_pipeline()
    folder, number = find(path, iteration)
    if is_megatron_form(folder):
        _restore_foreign(folder, state, optimizer)
        return number
    facts = _facts(folder)
    with_optimizer = optimizer and state.optimizer is not None
    if with_optimizer and not facts["optimizer"]:
        raise CheckpointError(str(folder), "it has no optimizer state", "add --no-load-optim to go on without")
    if with_optimizer and is_distributed(state.optimizer) != (folder / FOLDER).is_dir():
        what = "its optimizer and this one differ in --use-distributed-optimizer"
        raise CheckpointError(str(folder), what, "set it as it was, or add --no-load-optim")
    try:
        if (folder / FOLDER).is_dir():
            read_sharded(folder / FOLDER, state if with_optimizer else TrainState(state.model))
        else:
            _restore_tensors(folder, facts["tensor_parallel"], state, with_optimizer)
        if rng and facts["world"] == torch.distributed.get_world_size():
            restore_random(load_file(folder / random_file(torch.distributed.get_rank())))
    except (OSError, SafetensorError, KeyError, CheckpointingException) as error:
        raise CheckpointError(str(folder), f"it is not whole ({error})", _FIX) from error
    if with_optimizer:
        _restore_schedule(state, facts)
    return number


def _restore_foreign(folder: Path, state: TrainState, optimizer: bool) -> None:
    if optimizer and state.optimizer is not None:
        what = "it is a checkpoint of Megatron-LM, whose optimizer state is not read here"
        raise CheckpointError(str(folder), what, "add --no-load-optim to take its weights")
    load_megatron_weights(folder, state.model)
    if state.optimizer is not None:
        state.optimizer.reload_model_params()


def _facts(folder: Path) -> Mapping[str, Any]:
    try:
        facts = json.loads((folder / STATE).read_text("utf-8"))
        if facts["format"] != FORMAT:
            what = f"it is of format {facts['format']}, and this program reads {FORMAT}"
            raise CheckpointError(str(folder), what, "load it with the program that wrote it")
        return facts
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CheckpointError(str(folder / STATE), f"it cannot be read ({error!r})", _FIX) from error


@dataclass(frozen=True)
class _Source:
    """The tensor files of all the ranks that wrote."""

    files: tuple[Any, ...]
    kinds: Mapping[str, tuple[str, ...]]
    """What is kept of each parameter."""

    def read(self, kind: str, one: Held, share: Share) -> Tensor:
        """This rank's share of it."""
        name = f"{kind}/{one.entry.name}"
        if len(self.files) == share.size:
            return self.files[share.rank].get_tensor(name)
        shards = [file.get_tensor(name) for file in self.files]
        return shards[0] if shards[0].dim() == 0 else reshard(one.entry, shards, share)


@torch.no_grad()
def _restore_tensors(folder: Path, tp_size: int, state: TrainState, with_optimizer: bool) -> None:
    share = share_of(state.model)
    with ExitStack() as stack:
        files = tuple(
            stack.enter_context(safe_open(folder / tensors_file(rank, tp_size), framework="pt"))
            for rank in range(tp_size)
        )
        source = _Source(files, _kinds(files[0]))
        parameters = list(held(state))
        _compare(folder, source, {one.entry.name for one in parameters})
        for one in parameters:
            _restore(folder, source, one, share, with_optimizer)


def _kinds(file: Any) -> dict[str, tuple[str, ...]]:
    kinds: dict[str, tuple[str, ...]] = {}
    for name in file.keys():  # noqa: SIM118 - it is no dictionary
        kind, _, parameter = name.partition("/")
        kinds[parameter] = (*kinds.get(parameter, ()), kind)
    return kinds


def _compare(folder: Path, source: _Source, names: set[str]) -> None:
    missing, more = sorted(names - set(source.kinds)), sorted(set(source.kinds) - names)
    if missing or more:
        what = f"it is of another model: it lacks {missing[:3] or 'nothing'} and has {more[:3] or 'nothing'} besides"
        raise CheckpointError(str(folder), what, _FIX)


def _restore(folder: Path, source: _Source, one: Held, share: Share, with_optimizer: bool) -> None:
    weights = source.read(WEIGHT, one, share)
    if weights.shape != one.weights.shape:
        what = f"{one.entry.name} is {tuple(weights.shape)} in it and {tuple(one.weights.shape)} here"
        raise CheckpointError(str(folder), what, _FIX)
    one.weights.copy_(weights)
    one.entry.parameter.copy_(weights)
    if with_optimizer and one.states is not None:
        kinds = [kind for kind in source.kinds[one.entry.name] if kind != WEIGHT]
        values = {kind: source.read(kind, one, share) for kind in kinds}
        one.states.state[one.weights] = {
            kind: value.to("cpu" if value.dim() == 0 else one.weights.device, copy=True)
            for kind, value in values.items()
        }


def _restore_schedule(state: TrainState, facts: Mapping[str, Any]) -> None:
    for group, step in zip(state.optimizer.param_groups, facts["group_steps"]):
        if step is not None:
            group["step"] = step
    if state.scheduler is not None and facts["samples"] is not None:
        state.scheduler.num_steps = facts["samples"]
        state.scheduler.step(0)
