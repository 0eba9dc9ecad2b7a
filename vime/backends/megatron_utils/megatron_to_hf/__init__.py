"""Upstream's names for the way from Megatron-core to Hugging Face, on the table of vime.backends.megatron_utils.weights."""

from argparse import Namespace
from collections.abc import Mapping
from typing import Any

from torch import Tensor

from vime.backends.megatron_utils.weights.errors import WeightsError
from vime.backends.megatron_utils.weights.tables import find_row
from vime.backends.megatron_utils.weights.transforms import unfuse

__all__ = ["convert_llama_to_hf", "convert_qwen2_to_hf", "convert_to_hf", "remove_padding"]


def convert_to_hf(
    args: Namespace,
    model_name: str,
    name: str,
    param: Tensor,
    quantization_config: Mapping[str, Any] | None = None,
    transform_ue8m0: bool = True,
) -> list[tuple[str, Tensor]]:
    """The Hugging Face tensors of the parameter `name`, given whole: gathered over tensor-parallel ranks, its layer's
    number counted over the whole model. Raises WeightsError for a name that no table has, and for quantised weights."""
    if quantization_config is not None:
        raise WeightsError(name, "weights are not quantised here", "use a checkpoint without quantization_config")
    return convert_qwen2_to_hf(args, name, remove_padding(name, param, args.vocab_size))


def convert_qwen2_to_hf(args: Namespace, name: str, param: Tensor) -> list[tuple[str, Tensor]]:
    """convert_to_hf for Qwen2, Qwen2.5 and Qwen3, without taking padding away."""
    found = find_row(_bare(name))
    if found is None:
        raise WeightsError(name, "this parameter is in no row of the table", "add one to weights/tables.py")
    row, layer = found
    parts = unfuse(row.kind, param, args.num_query_groups, args.num_attention_heads // args.num_query_groups)
    return [(hf.format(layer), part) for hf, part in zip(row.hf, parts)]


convert_llama_to_hf = convert_qwen2_to_hf


def remove_padding(name: str, param: Tensor, vocab_size: int) -> Tensor:
    """The parameter without the rows that pad the vocabulary, if it is one that has them."""
    found = find_row(_bare(name))
    return param[:vocab_size] if found is not None and found[0].vocab else param


def _bare(name: str) -> str:
    """The name within the model that wrappers hold."""
    while name.startswith("module."):
        name = name.removeprefix("module.")
    return name
