"""Weights of a built model as Hugging Face tensors."""

from argparse import Namespace
from collections.abc import Iterator, Sequence

import torch
from megatron.core import parallel_state
from torch import Tensor

from vime.backends.megatron_utils.weights.mapping import Share, entries, refuse_pipeline, share_of
from vime.backends.megatron_utils.weights.transforms import unfuse


@torch.no_grad()
def hf_tensors(model: Sequence[torch.nn.Module], args: Namespace) -> Iterator[tuple[str, Tensor]]:
    """(name, whole tensor) of each weight, one at a time, in the parameters' dtype; padding of the vocabulary dropped.

    Every tensor-parallel rank must go through all of it, because the shares are gathered on the way. On rank 0 it
    gives the tensors; on the others nothing. A tensor may be the parameter's own memory: copy it to keep it.
    """
    refuse_pipeline()
    share = share_of(model)
    for entry in entries(model):
        row = entry.row
        for name, part in zip(entry.hf, unfuse(row.kind, entry.parameter, share.groups, share.queries_per_group)):
            whole = part if row.split is None else _gathered(part, row.split, share)
            if share.rank == 0:
                yield name, whole[: args.vocab_size] if row.vocab else whole


def _gathered(part: Tensor, dim: int, share: Share) -> Tensor:
    """The whole on rank 0; what the others get is of no use."""
    if share.size == 1:
        return part
    part = part.contiguous()
    parts = [torch.empty_like(part) for _ in range(share.size)] if share.rank == 0 else None
    group = parallel_state.get_tensor_model_parallel_group()
    torch.distributed.gather(part, parts, group=group, group_dst=0)
    return torch.cat(parts, dim=dim) if parts else part
