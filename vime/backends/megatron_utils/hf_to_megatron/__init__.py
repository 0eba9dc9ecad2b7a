"""Upstream's names for the way from Hugging Face to Megatron-core."""

import json
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

import torch

from vime.backends.megatron_utils.weights import load_hf
from vime.config.model import SUPPORTED

__all__ = ["load_hf_weights", "supports_hf_weight_loading"]


def supports_hf_weight_loading(path: str | Path) -> bool:
    """Whether the model in the folder `path` is of a family that load_hf_weights reads."""
    return json.loads((Path(path) / "config.json").read_text("utf-8")).get("model_type") in SUPPORTED


def load_hf_weights(args: Namespace, model: Sequence[torch.nn.Module], path: str | Path) -> None:
    """load_hf, as upstream calls it."""
    load_hf(model, path)
