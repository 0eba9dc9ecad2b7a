"""The model: where its Hugging Face form is, and what of its shape Megatron-core's configuration has no field for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from vime.config.option import option


@dataclass(frozen=True, kw_only=True)
class Model:
    """The model, and the parts of its shape that are no field of Megatron-core."""

    NAME: ClassVar[str] = "model"

    hf_checkpoint: str | None = option(None, "Folder of the Hugging Face model: configuration, tokenizer, weights.")
    model_name: str | None = option(None, "The architecture's name, where its configuration does not tell.")
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = option(
        "auto", "Number format of trainer and engines; auto is float32 on a CPU and bfloat16 on GPUs."
    )
    bf16: bool = option(False, "The same as --dtype bfloat16.")
    fp16: bool = option(False, "The same as --dtype float16.")
    vocab_size: int | None = option(None, "Rows of the embedding; the model's own when unset.", low=1)
    padded_vocab_size: int | None = option(None, "Rows after padding; computed when unset.", low=1)
    make_vocab_size_divisible_by: int = option(1, "Pad the vocabulary to a multiple of this.", low=1)
    max_position_embeddings: int | None = option(None, "The longest sequence that the model was made for.", low=1)
    position_embedding_type: Literal["rope"] = option("rope", "How positions enter.")
    rotary_base: float | None = option(None, "Base of the rotary embedding; the model's own when unset.", above=0)
    rotary_percent: float = option(1.0, "Share of each head that is rotated.", above=0, high=1)
    rope_scaling: Mapping[str, Any] | None = option(
        None,
        "How the rotary embedding is stretched, as transformers' configuration says it; the model's own when unset.",
    )
    untie_embeddings_and_output_weights: bool | None = option(
        None, "The output layer has weights of its own; as the model's configuration says when unset."
    )
    custom_model_provider_path: str | None = option(None, "Function that makes the model instead of the built-in one.")
