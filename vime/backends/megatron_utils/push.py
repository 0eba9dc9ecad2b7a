"""Weights to the engines, from all ranks that hold a part of them, through a WeightSync that rank 0 alone has."""

from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
import torch.distributed as dist
from megatron.core import parallel_state

from vime.backends.megatron_utils.weights import hf_tensors

Named = tuple[str, torch.Tensor]


class Sync(Protocol):
    """What is asked of vime.backends.megatron_utils.update_weight.session.WeightSync."""

    bucket_bytes: int

    def connect(self) -> None: ...

    def update(self, tensors: Iterable[Named], plan: Any, version: str) -> Any: ...

    def close(self) -> None: ...


class OtherRankFailed(RuntimeError):
    """Rank 0 could not do its part; its own error has the details."""


@dataclass(frozen=True)
class Weights:
    """The model's weights under Hugging Face's names; each iteration gathers them anew."""

    model: Sequence[torch.nn.Module]
    args: Namespace

    def __iter__(self) -> Iterator[Named]:
        return hf_tensors(self.model, self.args)


def push_weights(weights: Weights, update: Callable[[Iterable[Named]], Any]) -> Any:
    """`update` the engines on rank 0, with every tensor-parallel rank giving its part; what it returned, None elsewhere.

    Every rank must call. Where weights are gathered from several ranks they can be gone through once, and to the end
    even if the update fails. Raises what `update` raised on rank 0 and OtherRankFailed on the others.
    """
    report, failure = None, None
    if dist.get_rank() == 0:
        alone = parallel_state.get_tensor_model_parallel_world_size() == 1
        tensors: Iterable[Named] = weights if alone else iter(weights)
        try:
            report = update(tensors)
        except Exception as error:
            failure = error
        if not alone:
            _go_through(tensors)
    elif parallel_state.get_data_parallel_rank() == 0:
        _go_through(weights)
    _tell_all(failure)
    return report


def _go_through(tensors: Iterable[Named]) -> None:
    for _ in tensors:
        pass


def _tell_all(failure: Exception | None) -> None:
    told: list[str | None] = [None if failure is None else f"{type(failure).__name__}: {failure}"]
    if dist.get_world_size() > 1:
        dist.broadcast_object_list(told, src=0)
    if failure is not None:
        raise failure
    if told[0] is not None:
        raise OtherRankFailed(f"rank 0 failed: {told[0]}")
