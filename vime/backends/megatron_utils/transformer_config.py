"""Megatron-core's TransformerConfig out of `args`: fields by their names, values brought to the field's type."""

import dataclasses
import enum
import typing
from argparse import Namespace
from collections.abc import Mapping
from typing import Any

import torch
import torch.nn.functional as F
from megatron.core.transformer import TransformerConfig

from vime.device import detect

_ACTIVATIONS = {"silu": F.silu, "gelu": F.gelu, "relu": F.relu}


def torch_dtype(name: str) -> torch.dtype:
    """The dtype called float32, bfloat16 or float16."""
    return getattr(torch, name)


def transformer_config(args: Namespace) -> TransformerConfig:
    """The configuration of the model that `args` describe (see vime.config.model for what its checkpoint implies).

    Raises ValueError for what a CPU cannot do.
    """
    cpu = detect(args.device).is_cpu
    if cpu and getattr(args, "recompute_granularity", None) is not None:
        raise ValueError("--recompute-granularity needs GPUs (it saves their random state): leave it out on a CPU")
    dtype = torch_dtype(args.dtype)
    own = {
        "params_dtype": dtype,
        "pipeline_dtype": dtype,
        "fp16": args.dtype == "float16",
        "bf16": args.dtype == "bfloat16",
        "activation_func": _ACTIVATIONS[args.activation_func],
        "use_cpu_initialization": cpu or getattr(args, "use_cpu_initialization", False),
        "gradient_accumulation_fusion": not cpu and getattr(args, "gradient_accumulation_fusion", False),
    }
    return TransformerConfig(**{**fields_from_args(TransformerConfig, args), **own})


def fields_from_args(config: type, args: Namespace) -> dict[str, Any]:
    """The fields of Megatron-core's dataclass `config` that `args` has, as the dataclass wants them."""
    hints = typing.get_type_hints(config)
    given: Mapping[str, Any] = vars(args)
    return {
        field.name: _typed(hints[field.name], given[field.name])
        for field in dataclasses.fields(config)
        if field.init and given.get(field.name) is not None
    }


def _typed(hint: Any, value: Any) -> Any:
    """Enumeration members and dtypes arrive as their names."""
    for kind in typing.get_args(hint) or (hint,):
        if isinstance(value, str) and isinstance(kind, type):
            if issubclass(kind, enum.Enum) and value in kind.__members__:
                return kind[value]
            if kind is torch.dtype:
                return torch_dtype(value)
    return value
