"""Upstream's sampling parameters in vLLM's words."""

from collections.abc import Mapping
from typing import Any

from .errors import UnsupportedRequest

DEFAULT_MAX_TOKENS = 128
"""What the upstream engine generates at most when a request does not say; vLLM would fill the context."""

_RENAMED = {
    "max_new_tokens": "max_tokens",
    "min_new_tokens": "min_tokens",
    "sampling_seed": "seed",
    "no_stop_trim": "include_stop_str_in_output",
}
_SAME = {
    *("n", "temperature", "top_p", "top_k", "min_p", "stop", "stop_token_ids", "ignore_eos", "logit_bias"),
    *("presence_penalty", "frequency_penalty", "repetition_penalty", "skip_special_tokens", "logprobs"),
    *("spaces_between_special_tokens", "max_tokens", "min_tokens", "seed", "include_stop_str_in_output"),
    *("prompt_logprobs", "prompt_logprob_start", "prompt_logprob_token_ids", "logprob_token_ids", "flat_logprobs"),
    *("detokenize", "structured_outputs", "allowed_token_ids", "bad_words", "extra_args", "stream_interval"),
    *("skip_reading_prefix_cache", "thinking_token_budget", "repetition_detection", "routed_experts_prompt_start"),
    *("trace_decode_token_ids", "watermarking"),
}
_GRAMMARS = {"regex": "regex", "json_schema": "json", "ebnf": "grammar", "structural_tag": "structural_tag"}
_ASKED_OF_THE_SERVER = {"return_top_p_token_ids"}


def sampling_params(wanted: Mapping[str, Any]) -> dict[str, Any]:
    """`wanted`, in either spelling, as vLLM's; the upstream engine's default length where none is given.

    Parameters that are None are left out (a length that is None has no limit). Raises UnsupportedRequest for a
    parameter that vLLM would ignore.
    """
    sampling: dict[str, Any] = {}
    for key, value in wanted.items():
        if key in _RENAMED:
            if _RENAMED[key] not in wanted:
                sampling[_RENAMED[key]] = value
        elif key in _GRAMMARS:
            if value is not None:
                sampling["structured_outputs"] = {_GRAMMARS[key]: value}
        elif key == "custom_params":
            sampling["extra_args"] = {k: v for k, v in (value or {}).items() if k not in _ASKED_OF_THE_SERVER} or None
        elif key in _SAME:
            sampling[key] = value
        else:
            raise UnsupportedRequest(f"sampling_params.{key}", "no such parameter in vLLM, which would ignore it")
    sampling.setdefault("max_tokens", DEFAULT_MAX_TOKENS)
    return {key: value for key, value in sampling.items() if value is not None and not _is_empty_stop(key, value)}


def _is_empty_stop(key: str, value: Any) -> bool:
    return key == "stop" and value == ""
