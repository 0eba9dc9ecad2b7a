"""The model: Megatron-core's GPTModel in the shape that `args` describe."""

import importlib.util
from argparse import Namespace

from megatron.core import parallel_state
from megatron.core.models.gpt import GPTModel
from megatron.core.models.gpt.gpt_layer_specs import (
    get_gpt_layer_local_spec,
    get_gpt_layer_with_transformer_engine_spec,
)
from megatron.core.transformer import ModuleSpec, TransformerConfig

from vime.backends.megatron_utils.core_attention import PackedAttention
from vime.backends.megatron_utils.transformer_config import torch_dtype, transformer_config
from vime.device import detect


def build_model(args: Namespace) -> list[GPTModel]:
    """This rank's part of the model with random weights, in args.dtype, in a list as Megatron-core's schedules take it.

    `init_parallel` comes first. Its logits stay divided over the tensor-parallel ranks.
    """
    config = transformer_config(args)
    model = GPTModel(
        config=config,
        transformer_layer_spec=layer_spec(args, config),
        vocab_size=padded_vocab_size(args),
        max_sequence_length=args.max_position_embeddings,
        pre_process=parallel_state.is_pipeline_first_stage(),
        post_process=parallel_state.is_pipeline_last_stage(),
        parallel_output=True,
        share_embeddings_and_output_weights=not args.untie_embeddings_and_output_weights,
        position_embedding_type="rope",
        rotary_percent=args.rotary_percent,
        rotary_base=args.rotary_base,
    )
    return [model.to(torch_dtype(args.dtype))]


def layer_spec(args: Namespace, config: TransformerConfig) -> ModuleSpec:
    """The layers' parts: Transformer Engine's on GPUs that have it, else Megatron-core's own with packed attention."""
    if not detect(args.device).is_cpu and importlib.util.find_spec("transformer_engine"):
        return get_gpt_layer_with_transformer_engine_spec(qk_layernorm=config.qk_layernorm)
    spec = get_gpt_layer_local_spec(qk_layernorm=config.qk_layernorm, normalization=config.normalization)
    spec.submodules.self_attention.submodules.core_attention = PackedAttention
    return spec


def padded_vocab_size(args: Namespace) -> int:
    """Rows of the embedding: as given, or the next multiple of make_vocab_size_divisible_by x tensor ranks."""
    if args.padded_vocab_size is not None:
        return args.padded_vocab_size
    multiple = args.make_vocab_size_divisible_by * args.tensor_model_parallel_size
    return -(-args.vocab_size // multiple) * multiple
