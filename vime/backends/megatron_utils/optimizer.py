"""The optimizer: Megatron-core's, with clipping of our own, and master weights of our own where its refuse the device."""

from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from megatron.core import tensor_parallel
from megatron.core.distributed import DistributedDataParallel
from megatron.core.optimizer import OptimizerConfig, get_megatron_optimizer
from megatron.core.optimizer.clip_grads import get_grad_norm_fp32
from megatron.core.optimizer.optimizer import MegatronOptimizer
from torch import Tensor
from torch.nn import Parameter

from vime.backends.megatron_utils.schedule import build_scheduler
from vime.backends.megatron_utils.transformer_config import fields_from_args, torch_dtype
from vime.device import detect

__all__ = ["ClippedOptimizer", "Master", "build_optimizer", "build_scheduler"]


@dataclass(frozen=True)
class Master:
    """A parameter of 16 bits, and the float32 copy that is updated in its place."""

    parameter: Parameter
    weights: Parameter


@dataclass(frozen=True)
class ClippedOptimizer:
    """Megatron-core's optimizer as `inner`, whose own clipping is off because it accepts gradients on GPUs only."""

    inner: MegatronOptimizer
    clip_grad: float
    """The longest gradient; 0 is any."""
    masters: tuple[Master, ...] = ()
    """Where Megatron-core keeps no float32 weights of its own."""

    @property
    def param_groups(self) -> list[dict[str, Any]]:
        """As torch's optimizers have them; the scheduler sets `lr` and `weight_decay` in them."""
        return self.inner.param_groups

    @property
    def parts(self) -> Sequence[MegatronOptimizer]:
        """The optimizers that it is made of."""
        return getattr(self.inner, "chained_optimizers", [self.inner])

    @torch.no_grad()
    def step(self) -> tuple[bool, float, None]:
        """One update: (whether it was made, the gradient's norm before clipping, None), as Megatron-core's step.

        The norm is that of the whole model, over tensor-parallel ranks. With a norm that is not finite nothing changes.
        """
        if self.inner.prepare_grads():
            return False, float("nan"), None
        norm = self.grad_norm()
        if not torch.isfinite(torch.tensor(norm)):
            return False, norm, None
        self._clip(norm)
        made = self.inner.step_with_ready_grads()
        for master in self.masters:
            master.parameter.copy_(master.weights)
        return made, norm, None

    def grad_norm(self) -> float:
        """The norm of all gradients, which are ready; every rank must ask."""
        squares = (
            get_grad_norm_fp32(
                part.get_main_grads_for_grad_norm(), grad_stats_parallel_group=part.get_grad_stats_parallel_group()
            )
            ** 2
            for part in self.parts
        )
        return sum(squares) ** 0.5

    def _clip(self, norm: float) -> None:
        share = self.clip_grad / (norm + 1e-6)
        if self.clip_grad > 0 and share < 1:
            grads = [grad for grad in map(_gradient, self.parameters()) if grad is not None]
            torch._foreach_mul_(grads, share)

    def parameters(self) -> Iterator[Parameter]:
        """What is updated: float32, be it the model's own or master weights."""
        for part in self.parts:
            yield from part.get_parameters()

    def zero_grad(self) -> None:
        """Forget the gradients. The buffers of the data-parallel wrapper are cleared by its zero_grad_buffer."""
        self.inner.zero_grad()

    @torch.no_grad()
    def reload_model_params(self) -> None:
        """Take the master weights from the model again, after it was loaded."""
        for master in self.masters:
            master.weights.copy_(master.parameter)
        if not self.masters:
            self.inner.reload_model_params()

    def reset_state(self) -> None:
        """Forget what the optimizer remembers of former gradients; the weights stay."""
        for part in self.parts:
            for state in part.optimizer.state.values():
                for value in state.values():
                    if isinstance(value, Tensor):
                        value.zero_()
            for group in part.param_groups:  # where steps are counted a group
                if "step" in group:
                    group["step"] = 0


def _gradient(parameter: Parameter) -> Tensor | None:
    decoupled = getattr(parameter, "decoupled_grad", None)
    return parameter.grad if decoupled is None else decoupled


def build_optimizer(args: Namespace, model: Sequence[DistributedDataParallel]) -> ClippedOptimizer:
    """The optimizer of `model`, whose weights are loaded (else call reload_model_params afterwards).

    `model`: the chunks as data_parallel wraps them. Raises ValueError for the distributed optimizer on a CPU.
    """
    cpu = detect(args.device).is_cpu
    given = fields_from_args(OptimizerConfig, args)
    if cpu and given.get("use_distributed_optimizer"):
        raise ValueError("--use-distributed-optimizer needs GPUs: leave it out on a CPU")
    half = args.dtype != "float32" and not cpu
    own = {
        "params_dtype": torch_dtype(args.dtype),
        "bf16": half and args.dtype == "bfloat16",
        "fp16": half and args.dtype == "float16",
        "clip_grad": 0.0,
        "timers": None,
    }
    inner = get_megatron_optimizer(OptimizerConfig(**{**given, **own}), list(model))
    return ClippedOptimizer(inner, float(args.clip_grad), _put_masters(inner.param_groups) if cpu else ())


def _put_masters(groups: Sequence[Mapping[str, Any]]) -> tuple[Master, ...]:
    """Put a float32 copy in the place of each parameter of 16 bits. The two share one gradient, which is float32."""
    masters = []
    for group in groups:
        for place, parameter in enumerate(group["params"]):
            if parameter.dtype == torch.float32:
                continue
            weights = Parameter(parameter.detach().float())
            tensor_parallel.copy_tensor_model_parallel_attributes(weights, parameter)
            weights.shared = getattr(parameter, "shared", False)
            weights.main_grad = parameter.main_grad
            group["params"][place] = weights
            masters.append(Master(parameter, weights))
    return tuple(masters)
