"""How the trainer's ranks are laid out, and how much one of them takes at once."""

from dataclasses import dataclass
from typing import ClassVar

from vime.config.option import option


@dataclass(frozen=True, kw_only=True)
class Parallel:
    """Layout of the trainer's ranks, and micro-batches."""

    NAME: ClassVar[str] = "parallel"

    tensor_model_parallel_size: int = option(1, "Ranks that share each layer.", low=1)
    pipeline_model_parallel_size: int = option(1, "Ranks that share the stack of layers.", low=1)
    context_parallel_size: int = option(1, "Ranks that share each sequence.", low=1)
    sequence_parallel: bool = option(False, "Split norms and dropout along the sequence over the tensor ranks.")
    micro_batch_size: int = option(1, "Samples of one pass, where --use-dynamic-batch-size is not set.", low=1)
    use_dynamic_batch_size: bool = option(False, "Pack samples into passes by tokens, not by number.")
    max_tokens_per_gpu: int | None = option(None, "Tokens of one pass on one rank.", low=1)
    log_probs_max_tokens_per_gpu: int | None = option(None, "The same for logprobs; as for training when unset.", low=1)
    balance_data: bool = option(False, "Deal samples to ranks so that each gets as many tokens.")
    balance_by_flops: bool = option(False, "Balance by work instead of tokens.")
    data_pad_size_multiplier: int = option(128, "Pad packed sequences to a multiple of this.", low=1)
    log_probs_chunk_size: int = option(-1, "Tokens whose logprobs are computed at once; -1 is all.", low=-1)
    recompute_loss_function: bool = option(False, "Compute the loss again on the way back, to save memory.")
    only_train_params_name_list: tuple[str, ...] | None = option(None, "Train only parameters whose names match.")
    freeze_params_name_list: tuple[str, ...] | None = option(None, "Train all parameters but those whose names match.")
    megatron_config_path: str | None = option(None, "YAML file of what actor and critic have otherwise.")
    custom_megatron_init_path: str | None = option(None, "Function to call once Megatron is set up.")
    custom_megatron_before_log_prob_hook_path: str | None = option(None, "Function to call before logprobs.")
    custom_megatron_before_train_step_hook_path: str | None = option(None, "Function to call before each update.")
