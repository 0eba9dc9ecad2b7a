"""Which Megatron-core parameter is which Hugging Face tensor: rows of data, read in both directions."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["copy", "qkv", "gate_up"]


@dataclass(frozen=True)
class Row:
    """One parameter. `{}` in a name stands for the layer's number, counted from 0 over the whole model.

    `split` is the dimension in which both the parameter and each of its tensors are divided over the tensor-parallel
    ranks; None: every rank has all of it. `vocab`: the dimension 0 is the vocabulary, which may be padded here.
    """

    megatron: tuple[str, ...]
    """Its names: in Megatron-core's own layers, and in Transformer Engine's, which fuse norms into the next linear."""
    hf: tuple[str, ...]
    kind: Kind = "copy"
    split: int | None = None
    vocab: bool = False

    def match(self, name: str) -> str | None:
        """The layer's number in the parameter's name `name` ("" if it has none); None if this row is of another."""
        for pattern in self.megatron:
            if found := re.fullmatch(re.escape(pattern).replace(r"\{\}", r"(\d+)"), name):
                return (*found.groups(), "")[0]
        return None


_LAYER, _HF = "decoder.layers.{}.", "model.layers.{}."
_QKV = tuple(f"{_HF}self_attn.{one}_proj." for one in "qkv")

DENSE: tuple[Row, ...] = (
    Row(("embedding.word_embeddings.weight",), ("model.embed_tokens.weight",), split=0, vocab=True),
    Row(
        (_LAYER + "input_layernorm.weight", _LAYER + "self_attention.linear_qkv.layer_norm_weight"),
        (_HF + "input_layernorm.weight",),
    ),
    Row((_LAYER + "self_attention.linear_qkv.weight",), tuple(name + "weight" for name in _QKV), "qkv", split=0),
    Row((_LAYER + "self_attention.linear_qkv.bias",), tuple(name + "bias" for name in _QKV), "qkv", split=0),
    Row((_LAYER + "self_attention.q_layernorm.weight",), (_HF + "self_attn.q_norm.weight",)),
    Row((_LAYER + "self_attention.k_layernorm.weight",), (_HF + "self_attn.k_norm.weight",)),
    Row((_LAYER + "self_attention.linear_proj.weight",), (_HF + "self_attn.o_proj.weight",), split=1),
    Row(
        (_LAYER + "pre_mlp_layernorm.weight", _LAYER + "mlp.linear_fc1.layer_norm_weight"),
        (_HF + "post_attention_layernorm.weight",),
    ),
    Row(
        (_LAYER + "mlp.linear_fc1.weight",),
        (_HF + "mlp.gate_proj.weight", _HF + "mlp.up_proj.weight"),
        "gate_up",
        split=0,
    ),
    Row((_LAYER + "mlp.linear_fc2.weight",), (_HF + "mlp.down_proj.weight",), split=1),
    Row(("decoder.final_layernorm.weight",), ("model.norm.weight",)),
    Row(("output_layer.weight",), ("lm_head.weight",), split=0, vocab=True),
)
"""Dense decoders with gated feed-forward layers: Qwen2, Qwen2.5, Qwen3, Llama. What a model lacks, it has no row of."""


def find_row(name: str, table: Sequence[Row] = DENSE) -> tuple[Row, str] | None:
    """The row of the parameter called `name`, and the layer's number in it."""
    for row in table:
        if (layer := row.match(name)) is not None:
            return row, layer
    return None
