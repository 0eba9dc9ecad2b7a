"""What a parameter is made of. On one rank's share as on the whole: tensor parallelism only divides groups and rows."""

from collections.abc import Sequence

import torch
from torch import Tensor

from vime.backends.megatron_utils.weights.tables import Kind


def fuse(kind: Kind, parts: Sequence[Tensor], groups: int) -> Tensor:
    """One parameter out of its tensors. `groups`: the key-value heads among them.

    qkv: for each group its query heads, its key, its value. gate_up: all of the gate, then all of the up projection.
    """
    if kind == "qkv":
        grouped = [part.reshape(groups, -1, *part.shape[1:]) for part in parts]
        return torch.cat(grouped, dim=1).flatten(0, 1)
    return torch.cat(list(parts), dim=0) if kind == "gate_up" else parts[0]


def unfuse(kind: Kind, parameter: Tensor, groups: int, queries_per_group: int) -> list[Tensor]:
    """The tensors of one parameter: fuse, backwards."""
    if kind == "qkv":
        grouped = parameter.reshape(groups, queries_per_group + 2, -1, *parameter.shape[1:])
        parts = grouped.split([queries_per_group, 1, 1], dim=1)
        return [part.flatten(0, 2) for part in parts]
    return list(parameter.chunk(2, dim=0)) if kind == "gate_up" else [parameter]
