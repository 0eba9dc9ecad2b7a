"""Scaling of the rotary embedding for sequences longer than the model was made for."""

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor


def scaled_frequencies(frequencies: Tensor, scaling: Mapping[str, Any]) -> Tensor:
    """The rotary embedding's inverse frequencies [head_dim / 2] under `scaling`, as transformers' configurations have it.

    linear: all slower by `factor`. llama3 (Llama 3.1): the waves longer than the original length / low_freq_factor are
    slower by `factor`, the ones shorter than it / high_freq_factor as they were, those between in proportion.
    """
    factor = scaling["factor"]
    if scaling["rope_type"] == "linear":
        return frequencies / factor
    low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
    waves = scaling["original_max_position_embeddings"] * frequencies / (2 * math.pi)
    kept = torch.clamp((waves - low) / (high - low), 0, 1)
    return frequencies * (kept + (1 - kept) / factor)
