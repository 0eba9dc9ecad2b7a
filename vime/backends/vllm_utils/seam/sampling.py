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
_WHOLE_VOCABULARY = 1 << 30
"""A top_k that keeps every token. vLLM reports what sampling kept only for a request with a positive one."""


def sampling_params(wanted: Mapping[str, Any]) -> dict[str, Any]:
    """`wanted`, in either spelling, as vLLM's; the upstream engine's default length where none is given.

    Parameters that are None are left out (a length that is None has no limit), empty stop strings too. Raises
    UnsupportedRequest for a parameter that vLLM would ignore, and for a combination that it answers with status 500.
    """
    sampling: dict[str, Any] = {}
    for key, value in wanted.items():
        if key in _RENAMED:
            if _RENAMED[key] not in wanted:
                sampling[_RENAMED[key]] = value
        elif key in _SAME:
            sampling[key] = _without_empty(value) if key == "stop" else value
        elif key not in _GRAMMARS and key != "custom_params" and value is not None:
            raise UnsupportedRequest(f"sampling_params.{key}", "no such parameter in vLLM, which would ignore it")
    _add_custom(sampling, wanted.get("custom_params") or {})
    _add_grammar(sampling, {key: wanted[key] for key in _GRAMMARS if wanted.get(key) is not None})
    sampling.setdefault("max_tokens", DEFAULT_MAX_TOKENS)
    return {key: value for key, value in sampling.items() if value is not None}


def _add_custom(sampling: dict[str, Any], custom: Mapping[str, Any]) -> None:
    own = {key: value for key, value in custom.items() if key not in _ASKED_OF_THE_SERVER}
    if own:
        sampling["extra_args"] = {**own, **(sampling.get("extra_args") or {})}
    if custom.get("return_top_p_token_ids") and sampling.get("top_k") in (None, -1, 0):
        sampling["top_k"] = _WHOLE_VOCABULARY


def _add_grammar(sampling: dict[str, Any], grammars: Mapping[str, Any]) -> None:
    if len(grammars) > 1:
        raise UnsupportedRequest("sampling_params", f"one grammar for one request, not {' and '.join(grammars)}")
    for key, grammar in grammars.items():
        sampling.setdefault("structured_outputs", {_GRAMMARS[key]: grammar})
    if sampling.get("structured_outputs") and sampling.get("stop_token_ids"):
        raise UnsupportedRequest("sampling_params.stop_token_ids", "vLLM's grammars reject them")


def _without_empty(stop: Any) -> Any:
    """Without empty strings, which stop nothing in the upstream engine; vLLM rejects them."""
    if isinstance(stop, str) or stop is None:
        return stop or None
    return [one for one in stop if one != ""]
