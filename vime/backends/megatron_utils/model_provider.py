"""The model: Megatron-core's GPTModel in the shape that `args` describe."""

import importlib.util
import re
from argparse import Namespace
from collections.abc import Callable, Sequence
from functools import partial

import torch
from megatron.core import parallel_state
from megatron.core.distributed import DistributedDataParallel, DistributedDataParallelConfig
from megatron.core.models.gpt import GPTModel
from megatron.core.models.gpt.gpt_layer_specs import (
    get_gpt_layer_local_spec,
    get_gpt_layer_with_transformer_engine_spec,
)
from megatron.core.transformer import ModuleSpec, TransformerConfig

from vime.backends.megatron_utils.core_attention import PackedAttention
from vime.backends.megatron_utils.rope import scaled_frequencies
from vime.backends.megatron_utils.transformer_config import fields_from_args, torch_dtype, transformer_config
from vime.device import detect
from vime.utils.misc import load_function


def build_model(args: Namespace) -> list[GPTModel]:
    """This rank's part of the model with random weights, in args.dtype, in a list as Megatron-core's schedules take it.

    `init_parallel` comes first, with the layout of `args` (else ValueError). The logits stay divided over the
    tensor-parallel ranks.
    """
    ranks = parallel_state.get_tensor_model_parallel_world_size()
    if ranks != args.tensor_model_parallel_size:
        raise ValueError(f"{ranks} tensor ranks were set up, and args want {args.tensor_model_parallel_size}")
    model = get_model_provider_func(args)(
        pre_process=parallel_state.is_pipeline_first_stage(), post_process=parallel_state.is_pipeline_last_stage()
    )
    return [model.to(torch_dtype(args.dtype))]


def get_model_provider_func(args: Namespace, role: str = "actor") -> Callable[..., GPTModel]:
    """Upstream's name for the function (pre_process, post_process) that makes the model: the user's, or the built-in one.

    `role` is "actor": a critic's head is not made here.
    """
    if role != "actor":
        raise ValueError(f"there is no model for the role {role!r} yet: choose an estimator without a critic")
    own = args.custom_model_provider_path
    make = partial(_gpt_model, args) if own is None else load_function(own)

    def provide(pre_process: bool = True, post_process: bool = True) -> GPTModel:
        model = make(pre_process=pre_process, post_process=post_process)
        freeze_model_params(model, args)
        return model

    return provide


def _gpt_model(args: Namespace, pre_process: bool, post_process: bool) -> GPTModel:
    config = transformer_config(args)
    model = GPTModel(
        config=config,
        transformer_layer_spec=layer_spec(args, config),
        vocab_size=padded_vocab_size(args),
        max_sequence_length=args.max_position_embeddings,
        pre_process=pre_process,
        post_process=post_process,
        parallel_output=True,
        share_embeddings_and_output_weights=not args.untie_embeddings_and_output_weights,
        position_embedding_type="rope",
        rotary_percent=args.rotary_percent,
        rotary_base=args.rotary_base,
    )
    model.real_vocab_size = args.vocab_size
    if args.rope_scaling is not None:
        model.rotary_pos_emb.inv_freq = scaled_frequencies(model.rotary_pos_emb.inv_freq, args.rope_scaling)
    return model


def freeze_model_params(model: torch.nn.Module, args: Namespace) -> None:
    """Leave untrained what args.only_train_params_name_list does not match, and what freeze_params_name_list does.

    Both are regular expressions searched for in the parameters' names.
    """
    only, but = args.only_train_params_name_list, args.freeze_params_name_list or ()
    for name, parameter in model.named_parameters():
        wanted = only is None or any(re.search(pattern, name) for pattern in only)
        parameter.requires_grad = wanted and not any(re.search(pattern, name) for pattern in but)


def data_parallel(args: Namespace, model: Sequence[GPTModel]) -> list[DistributedDataParallel]:
    """The model as it is trained: gradients in float32 buffers, which Megatron-core's schedules reduce over the ranks."""
    own = {"grad_reduce_in_fp32": True} if args.dtype != "float32" else {}
    config = DistributedDataParallelConfig(**{**fields_from_args(DistributedDataParallelConfig, args), **own})
    return [DistributedDataParallel(chunk.config, config, chunk) for chunk in model]


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
