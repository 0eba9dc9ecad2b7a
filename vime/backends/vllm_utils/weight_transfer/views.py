"""Tensors as views of a bucket's bytes. Needs torch, not vLLM."""

from collections.abc import Callable

import torch

from vime.backends.vllm_utils.weight_transfer.layout import Bucket

Arrival = tuple[Bucket, torch.Tensor, Callable[[], None]]
"""A bucket, its bytes, and what is called once those are needed no longer."""


def view_of(buffer: torch.Tensor, offset: int, dtype: str, shape: tuple[int, ...]) -> torch.Tensor:
    """The tensor of `dtype` and `shape` that begins at byte `offset` of the uint8 `buffer`; shares its memory."""
    kind = getattr(torch, dtype)
    count = torch.Size(shape).numel()
    return buffer[offset : offset + count * kind.itemsize].view(kind).view(shape)
