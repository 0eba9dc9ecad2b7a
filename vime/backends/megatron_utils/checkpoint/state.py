"""What a checkpoint holds of one rank, as named tensors, and back."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from megatron.core import tensor_parallel
from megatron.core.optimizer_param_scheduler import OptimizerParamScheduler
from torch import Tensor

from vime.backends.megatron_utils.optimizer import ClippedOptimizer
from vime.backends.megatron_utils.weights.mapping import Entry, entries

WEIGHT = "weight"


@dataclass(frozen=True)
class TrainState:
    """What is saved and restored. Without an optimizer: the weights only."""

    model: Sequence[torch.nn.Module]
    optimizer: ClippedOptimizer | None = None
    scheduler: OptimizerParamScheduler | None = None


@dataclass(frozen=True)
class Held:
    """One parameter: the tensor that is its exact value (float32 where there are master weights), and its group of the
    torch optimizer with the state that this keeps by parameter; None where it is not trained."""

    entry: Entry
    weights: Tensor
    states: Any = None


def held(state: TrainState) -> Iterator[Held]:
    """Each parameter of this rank."""
    optimizer = state.optimizer
    masters = {id(master.parameter): master.weights for master in optimizer.masters} if optimizer else {}
    owners = {
        id(parameter): part.optimizer
        for part in (optimizer.parts if optimizer else ())
        for parameter in part.get_parameters()
    }
    for entry in entries(state.model):
        own = masters.get(id(entry.parameter), getattr(entry.parameter, "main_param", None))
        weights = entry.parameter if own is None else own
        yield Held(entry, weights, owners.get(id(weights)))


def tensors(state: TrainState) -> dict[str, Tensor]:
    """The weights, and each state that the optimizer keeps of them: `KIND/PARAMETER`."""
    found = {}
    for one in held(state):
        found[f"{WEIGHT}/{one.entry.name}"] = one.weights.detach()
        for kind, value in (one.states.state.get(one.weights, {}) if one.states else {}).items():
            found[f"{kind}/{one.entry.name}"] = torch.as_tensor(value).detach()
    return found


def random_state() -> dict[str, Tensor]:
    """Of torch, of Megatron-core's tracker, and of Python."""
    tracked = tensor_parallel.get_cuda_rng_tracker().get_states()
    words = torch.tensor(random.getstate()[1], dtype=torch.int64)
    device = {"cuda": torch.cuda.get_rng_state()} if torch.cuda.is_available() else {}
    return {
        "torch": torch.get_rng_state(),
        "python": words,
        **device,
        **{f"tracker/{name}": value for name, value in tracked.items()},
    }


def restore_random(saved: Mapping[str, Tensor]) -> None:
    """What random_state gave."""
    torch.set_rng_state(saved["torch"])
    random.setstate((3, tuple(saved["python"].tolist()), None))
    if "cuda" in saved and torch.cuda.is_available():
        torch.cuda.set_rng_state(saved["cuda"])
    tracked = {name.removeprefix("tracker/"): value for name, value in saved.items() if name.startswith("tracker/")}
    tensor_parallel.get_cuda_rng_tracker().set_states(tracked)
