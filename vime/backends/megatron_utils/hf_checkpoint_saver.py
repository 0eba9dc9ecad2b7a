"""Upstream's name for writing a model in Hugging Face's form."""

from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from vime.backends.megatron_utils.weights import save_hf
from vime.backends.megatron_utils.weights.errors import WeightsError

__all__ = ["save_hf_model_to_path"]


def save_hf_model_to_path(
    args: Namespace,
    output_dir: str | Path,
    model: Sequence[torch.nn.Module],
    *,
    model_name: str | None = None,
    quantization_config: Mapping[str, Any] | None = None,
    progress_desc: str | None = None,
) -> None:
    """save_hf, as upstream calls it; weights are not quantised."""
    if quantization_config is not None:
        raise WeightsError(str(output_dir), "weights are not quantised here", "leave out quantization_config")
    save_hf(model, args, output_dir)
