"""Which engines a run has: their numbers, models, GPUs and options. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from vime.config.engine_groups import VllmConfig


@dataclass(frozen=True)
class EngineSpec:
    """One engine."""

    rank: int
    """Its number in the run."""
    model: str = "default"
    """The name of the model that it serves."""
    model_path: str | None = None
    """The model's folder; the trainer's where None."""
    num_gpus: int = 1
    gpu_offset: int = 0
    """GPUs of the engines before it, and of those that are kept free."""
    overrides: Mapping[str, Any] = field(default_factory=dict)
    """Options of vLLM over those of the run."""
    update_weights: bool = True
    external: str | None = None
    """Its address, where it runs already."""


def engine_specs(args: Any) -> tuple[EngineSpec, ...]:
    """The engines that the options ask for, in the order of their GPUs; those of --rollout-external-engine-addrs if given."""
    if args.rollout_external_engine_addrs:
        return tuple(
            EngineSpec(rank, model_path=args.hf_checkpoint, num_gpus=0, external=address)
            for rank, address in enumerate(args.rollout_external_engine_addrs)
        )
    specs: list[EngineSpec] = []
    offset = 0
    for model in VllmConfig.of_args(args).models:
        for group in model.server_groups:
            each = group.num_gpus_per_engine or 1
            specs += [
                EngineSpec(
                    rank=len(specs) + i,
                    model=model.name,
                    model_path=model.model_path,
                    num_gpus=each,
                    gpu_offset=offset + i * each,
                    overrides=group.overrides,
                    update_weights=bool(model.update_weights),
                )
                for i in range(group.num_engines)
            ]
            offset += group.num_gpus
    return tuple(specs)
