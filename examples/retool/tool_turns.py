"""What a sample may hold and how it grows: clean at first, within the context, its lists in step after each turn."""

from __future__ import annotations

import math
from argparse import Namespace
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

from vime.errors import RunError
from vime.utils.aborted import ABORT_REASON
from vime.utils.types import Sample

__all__ = ["add_observation", "begin", "context_limit", "response_ids", "turn_params", "unusable"]


def context_limit(args: Namespace) -> int:
    """Tokens of prompt and response together: --rollout-max-context-len, else what the trainer takes in one pass."""
    if args.rollout_max_context_len is not None:
        return args.rollout_max_context_len
    if getattr(args, "max_tokens_per_gpu", None) is None:
        raise RunError("nothing bounds the length of a conversation", "set --rollout-max-context-len")
    return args.context_parallel_size * args.max_tokens_per_gpu


def begin(sample: Sample, prompt_ids: Sequence[int]) -> None:
    """The prompt alone. Whatever an earlier attempt left on the sample is gone."""
    blank = Sample()
    for name in _GENERATED:
        setattr(sample, name, getattr(blank, name))
    sample.tokens = list(prompt_ids)
    sample.loss_mask = []
    sample.tool_call_count = 0
    sample.metadata.pop(ABORT_REASON, None)


_GENERATED = (
    *("response", "response_length", "loss_mask", "rollout_log_probs", "weight_versions", "status", "reward"),
    *("rollout_top_p_token_ids", "rollout_top_p_token_offsets", "rollout_routed_experts", "teacher_log_probs"),
    *("non_generation_time", "spec_info", "prefix_cache_info"),
)


def turn_params(sample: Sample, sampling_params: Mapping[str, Any], left: int) -> dict[str, Any]:
    """The sampling parameters of the next turn: no longer than what is `left`, and with other random numbers than the turns
    before, where they are seeded."""
    params = {**sampling_params, "max_new_tokens": min(sampling_params.get("max_new_tokens") or left, left)}
    if (seed := params.get("sampling_seed")) is not None and sample.response_length:
        told = repr((seed, sample.response_length)).encode()
        params["sampling_seed"] = int.from_bytes(blake2b(told, digest_size=8).digest()) >> 1
    return params


def unusable(answer: Any) -> str | None:
    """Why an answer cannot be trained on, in the word of `vime.utils.aborted`; None where it can. (One whose logprobs are
    not one a token is none: the seam raises.)"""
    kind = answer.finish_type
    if kind == "abort":
        return "engine_abort"
    if kind not in ("stop", "length", "repetition"):
        return "engine_error"
    if not answer.token_ids:
        return None
    log_probs = answer.log_probs
    if log_probs is None:
        return "no_logprobs"
    if not all(isinstance(one, int | float) and math.isfinite(one) for one in log_probs):
        return "logprobs_not_finite"
    return None


def add_observation(args: Namespace, sample: Sample, ids: Sequence[int], limit: int) -> bool:
    """Add what a tool said, as much of it as the context holds; whether that was all."""
    kept = list(ids)[: max(0, limit - len(sample.tokens))]
    sample.append_response_tokens(args, tokens=kept, trainable=False)
    return len(kept) == len(ids)


def response_ids(sample: Sample) -> list[int]:
    """The tokens of the response."""
    return sample.tokens[len(sample.tokens) - sample.response_length :]
