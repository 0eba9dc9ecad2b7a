"""The token ids that a request begins with, and the sampling parameters that rollouts share."""

from argparse import Namespace
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from vime.utils.processing_utils import build_processor_kwargs
from vime.utils.types import Sample

_PROMPT_KEYS = frozenset({"input_ids", "attention_mask"})
_WHOLE_VOCABULARY = 1 << 30
Encode = Callable[[str], list[int]]


def training_sampling_params(args: Namespace) -> dict[str, Any]:
    """How training samples are drawn, in the names that rollout functions share; a request makes them vLLM's."""
    # With a nucleus the trainer must know which ids were in it; vLLM tells only where top_k is positive, too.
    whole = args.rollout_top_p == 1.0
    top_k = args.rollout_top_k if whole or (args.rollout_top_k or 0) > 0 else _WHOLE_VOCABULARY
    return {
        **({} if whole else {"custom_params": {"return_top_p_token_ids": True}}),
        "temperature": args.rollout_temperature,
        "top_p": args.rollout_top_p,
        "top_k": top_k,
        "max_new_tokens": args.rollout_max_response_len,
        # Where it ends, and what of that shows in the text.
        "stop": args.rollout_stop,
        "stop_token_ids": args.rollout_stop_token_ids,
        "no_stop_trim": True,
        "skip_special_tokens": args.rollout_skip_special_tokens,
        "spaces_between_special_tokens": False,
    }


def prompt_encoder(tokenizer: Any) -> Encode:
    """A prompt's token ids; those of the last few hundred prompts are remembered, since a group's samples share one."""

    @lru_cache(maxsize=512)
    def ids(prompt: str) -> tuple[int, ...]:
        return tuple(tokenizer.encode(prompt, add_special_tokens=False))

    return lambda prompt: list(ids(prompt))


def prepare_prompt_ids(sample: Sample, tokenizer: Any, processor: Any, encode: Encode | None = None) -> list[int]:
    """The token ids to go on from: those the sample has, else its prompt's, through the processor if it has images.

    `encode` stands in for the tokenizer where a text is all that there is.
    """
    multimodal = {key: value for key, value in (sample.multimodal_inputs or {}).items() if value is not None}
    if sample.tokens and (not multimodal or sample.multimodal_train_inputs is not None):
        return sample.tokens
    if not (processor and multimodal):
        if encode and isinstance(sample.prompt, str):
            return encode(sample.prompt)
        return tokenizer.encode(sample.prompt, add_special_tokens=False)
    processed = processor(text=sample.prompt, **build_processor_kwargs(sample.multimodal_inputs))
    if sample.multimodal_train_inputs is None:
        sample.multimodal_train_inputs = {k: v for k, v in processed.items() if k not in _PROMPT_KEYS} or None
    return processed["input_ids"][0]


def tokens_left(args: Namespace, sample: Sample, length: int, max_new_tokens: int) -> int:
    """What may still be generated behind `length` tokens: of the response's budget, and of the context's if bounded."""
    left = max_new_tokens - sample.response_length
    if left < 0:
        raise ValueError(f"sample {sample.index} has {-left} response tokens more than max_new_tokens allows")
    context = getattr(args, "rollout_max_context_len", None)
    return left if context is None else max(0, min(left, context - length))
