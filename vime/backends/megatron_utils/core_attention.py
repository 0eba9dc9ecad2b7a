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
class Buckets:
    """The sequences of a pack of T tokens, grouped by length."""

    rows: tuple[Tensor, ...]
    """A group: int64 [sequences, longest], where each token is in the pack; on the right their last ones again."""
    back: Tensor
    """int64 [T]: where each token of the pack is in all the groups, one after the other."""


@dataclass
class Packing(PackedSeqParams):
    """Megatron-core's description of a pack, and its buckets."""

    buckets: Buckets | None = None


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


def buckets(cu_seqlens: Tensor) -> Buckets:
    """The sequences by the power of two that their length does not exceed; empty ones are in no group."""
    alike: dict[int, list[tuple[int, int]]] = {}
    for start, end in itertools.pairwise(cu_seqlens.tolist()):
        if end > start:
            alike.setdefault((end - start - 1).bit_length(), []).append((start, end - start))
    rows, back, offset = [], torch.empty(int(cu_seqlens[-1]), dtype=torch.int64), 0
    for _, spans in sorted(alike.items()):
        starts, lengths = torch.tensor(spans).unsqueeze(-1).unbind(1)
        places = torch.arange(int(lengths.max()))
        group = starts + torch.minimum(places, lengths - 1)
        back[group[places < lengths]] = offset + (places < lengths).flatten().nonzero().flatten()
        offset += group.numel()
        rows.append(group.to(cu_seqlens.device))
    return Buckets(tuple(rows), back.to(cu_seqlens.device))


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
        groups = getattr(packed_seq_params, "buckets", None) or buckets(packed_seq_params.cu_seqlens_q)
        attended = []
        for rows in groups.rows:
            q, k, v = (states[rows].transpose(1, 2) for states in (query, key, value))
            out = F.scaled_dot_product_attention(
                q, k, v, is_causal=True, scale=self.softmax_scale, enable_gqa=q.shape[1] != k.shape[1]
            )
            attended.append(out.transpose(1, 2).flatten(0, 1))
        return torch.cat(attended)[groups.back].flatten(1)
