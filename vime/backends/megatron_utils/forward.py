"""A pass of the model over a pack."""

import torch
from torch import Tensor

from vime.backends.megatron_utils.core_attention import packing


def forward_logits(
    model: torch.nn.Module, tokens: Tensor, position_ids: Tensor, cu_seqlens: Tensor, max_seqlen: int
) -> Tensor:
    """The logits [T, V / tensor ranks] of packed sequences, in the model's dtype.

    `tokens`, `position_ids` int64 [1, T]; `cu_seqlens` int32 [n + 1]: where each sequence begins, and T; `max_seqlen`
    is the longest one's length. Positions restart in each sequence: the rotary embedding takes them from cu_seqlens.
    On a pipeline stage that is not the last one, what it hands on: [T, 1, hidden].
    """
    out = model(
        input_ids=tokens,
        position_ids=position_ids,
        attention_mask=None,
        packed_seq_params=packing(cu_seqlens, max_seqlen),
    )
    return out[0] if out.shape[0] == 1 else out
