"""A pass of the model over a pack."""

import torch
from megatron.core import parallel_state
from megatron.core.utils import unwrap_model
from torch import Tensor

from vime.backends.megatron_utils.core_attention import packing

_NEVER = -1e4
"""The logit of a word that is none: its probability is 0 in every number format, and stays so at any temperature."""


def forward_logits(
    model: torch.nn.Module, tokens: Tensor, position_ids: Tensor, cu_seqlens: Tensor, max_seqlen: int
) -> Tensor:
    """The logits [T, V / tensor ranks] of packed sequences, in the model's dtype.

    `tokens`, `position_ids` int64 [1, T]; `cu_seqlens` int32 [n + 1]: where each sequence begins, and T; `max_seqlen`
    is the longest one's length. Positions restart in each sequence: the rotary embedding takes them from cu_seqlens.
    The columns that only pad the vocabulary are -10000: of probability 0 and without gradient.
    On a pipeline stage that is not the last one, what it hands on: [T, 1, hidden].
    """
    out = model(
        input_ids=tokens,
        position_ids=position_ids,
        attention_mask=None,
        packed_seq_params=packing(cu_seqlens, max_seqlen),
    )
    whole = unwrap_model(model)
    return _without_padding(out[0], getattr(whole, "real_vocab_size", None)) if whole.post_process else out


def _without_padding(logits: Tensor, words: int | None) -> Tensor:
    columns = logits.shape[-1]
    real = columns if words is None else words - parallel_state.get_tensor_model_parallel_rank() * columns
    if real < columns:
        logits[:, max(real, 0) :] = _NEVER
    return logits
