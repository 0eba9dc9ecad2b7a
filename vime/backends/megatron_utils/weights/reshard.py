"""A parameter divided over some ranks, divided over others."""

from collections.abc import Sequence

import torch
from torch import Tensor

from vime.backends.megatron_utils.weights.mapping import Entry, Share
from vime.backends.megatron_utils.weights.transforms import fuse, unfuse


def reshard(entry: Entry, shards: Sequence[Tensor], share: Share) -> Tensor:
    """This rank's share of the parameter, or of anything of its shape, out of all the shares `shards` of other ranks."""
    row = entry.row
    if row.split is None:
        return shards[0]
    groups = share.groups * share.size // len(shards)
    parts = zip(*(unfuse(row.kind, shard, groups, share.queries_per_group) for shard in shards))
    wholes = [torch.cat(part, dim=row.split) for part in parts]
    if row.vocab:
        wholes = [_rows(wholes[0], entry.parameter.shape[0] * share.size)]
    return fuse(row.kind, [whole.chunk(share.size, dim=row.split)[share.rank] for whole in wholes], share.groups)


def _rows(whole: Tensor, rows: int) -> Tensor:
    """The vocabulary padded differently: by as many rows as it takes."""
    missing = rows - whole.shape[0]
    return torch.cat([whole, whole.new_zeros(missing, *whole.shape[1:])]) if missing > 0 else whole[:rows]
