"""Causal attention over packed sequences, where Transformer Engine's is not there: Megatron-core's own refuses packing.

Sequences of similar length are padded on the right and attended to together. Causality alone keeps real tokens from
padding, so no mask is made, and padding at most doubles the work.
"""

import itertools
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from megatron.core.packed_seq_params import PackedSeqParams
from megatron.core.transformer.module import MegatronModule
from megatron.core.transformer.transformer_config import TransformerConfig
from torch import Tensor


@dataclass(frozen=True)
class Bucket:
    """Sequences attended to together. `rows` int64 [n, longest]: where each token is in the pack, padded with the
    sequence's last token; `real` bool [n, longest]: which of them are no padding."""

    rows: Tensor
    real: Tensor


@dataclass
class Packing(PackedSeqParams):
    """Megatron-core's description of a pack, and its buckets."""

    buckets: tuple[Bucket, ...] = ()


def packing(cu_seqlens: Tensor, max_seqlen: int) -> Packing:
    """The description of a pack. `cu_seqlens` int32 [n + 1]: where each sequence begins, and the end of the last."""
    return Packing(
        qkv_format="thd",
        cu_seqlens_q=cu_seqlens,
        cu_seqlens_kv=cu_seqlens,
        max_seqlen_q=max_seqlen,
        max_seqlen_kv=max_seqlen,
        buckets=buckets(cu_seqlens),
    )


def buckets(cu_seqlens: Tensor) -> tuple[Bucket, ...]:
    """The sequences by the power of two that their length does not exceed; empty ones are in none."""
    ends = cu_seqlens.tolist()
    alike: dict[int, list[tuple[int, int]]] = {}
    for start, end in itertools.pairwise(ends):
        if end > start:
            alike.setdefault((end - start - 1).bit_length(), []).append((start, end - start))
    return tuple(_bucket(spans, cu_seqlens.device) for _, spans in sorted(alike.items()))


def _bucket(spans: list[tuple[int, int]], device: torch.device) -> Bucket:
    starts, lengths = torch.tensor(spans, device=device).unsqueeze(-1).unbind(1)
    offsets = torch.arange(max(length for _, length in spans), device=device)
    return Bucket(starts + torch.minimum(offsets, lengths - 1), offsets < lengths)


class PackedAttention(MegatronModule):
    """Core attention of a layer, for the layer spec. Grouped queries; no dropout; within a sequence and causal only."""

    def __init__(
        self, config: TransformerConfig, layer_number: int, softmax_scale: float | None = None, **_: Any
    ) -> None:
        super().__init__(config=config)
        if config.attention_dropout:
            raise ValueError("packed attention has no dropout: leave out --attention-dropout")
        if config.context_parallel_size > 1:
            raise ValueError("packed attention has whole sequences: set --context-parallel-size to 1 on a CPU")
        self.layer_number = layer_number
        self.softmax_scale = softmax_scale

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attention_mask: Tensor | None = None,
        attn_mask_type: Any = None,
        attention_bias: Tensor | None = None,
        packed_seq_params: PackedSeqParams | None = None,
    ) -> Tensor:
        """query [T, heads, D]; key, value [T, groups, D]; the answer [T, heads * D]."""
        if packed_seq_params is None:
            raise ValueError("this attention is for packed sequences: call the model through forward_logits")
        parts = getattr(packed_seq_params, "buckets", ()) or buckets(packed_seq_params.cu_seqlens_q)
        out = query.new_zeros(query.shape)
        for part in parts:
            q, k, v = (states[part.rows].transpose(1, 2) for states in (query, key, value))
            attended = F.scaled_dot_product_attention(
                q, k, v, is_causal=True, scale=self.softmax_scale, enable_gqa=q.shape[1] != k.shape[1]
            )
            out = out.index_put((part.rows[part.real],), attended.transpose(1, 2)[part.real])
        return out.flatten(1)
