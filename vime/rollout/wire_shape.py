"""Whether what an engine sent has the shape of its answers. It is looked at where it arrives, so that nothing behind has to."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Mapping
from typing import Any

from vime.errors import travels

__all__ = ["MalformedAnswer", "check_answer", "check_chunk"]

_COMPLETIONS = "the list of completions, where one was asked for,"
_LARGEST_ID = 2**31 - 1
_LARGEST_COUNT = 2**53
_NPY = "k05VTVBZ"
"""How a .npy file begins in base64."""


@travels
class MalformedAnswer(RuntimeError):
    """What came back is no answer of vLLM's generate route; says which part of it is not."""

    def __init__(self, what: str, value: Any) -> None:
        super().__init__(
            f"what answers is no vLLM engine, or of another version: {what} is {reprlib.repr(value)[:200]}; see "
            "--rollout-external-engine-addrs and --vllm-router-ip, and what stands between"
        )


def check_answer(raw: Any) -> None:
    """Raises MalformedAnswer unless `raw` is one whole completion."""
    if not isinstance(raw, dict) or not isinstance(raw.get("choices"), list):
        raise MalformedAnswer("the answer", raw)
    check_chunk(raw)
    if not raw["choices"]:
        raise MalformedAnswer(_COMPLETIONS, [])
    if raw["choices"][0].get("token_ids") is None:
        raise MalformedAnswer("token_ids", None)


def check_chunk(chunk: Mapping[str, Any]) -> None:
    """Raises MalformedAnswer unless it is of one completion at most, and each part that it has of its kind.

    A logprob may be NaN, which is null in a stream: whether it can be trained on is no matter of shape.
    """
    _check(chunk, _OF_ALL)
    if len(chunk["choices"]) > 1:
        raise MalformedAnswer(_COMPLETIONS, chunk["choices"])
    for choice in chunk["choices"]:
        if not isinstance(choice, dict):
            raise MalformedAnswer("a completion", choice)
        _check(choice, _OF_A_CHOICE)


def _check(about: Mapping[str, Any], kinds: Mapping[str, Callable[[Any], bool]]) -> None:
    for name, is_one in kinds.items():
        value = about.get(name)
        if value is not None and not is_one(value):
            raise MalformedAnswer(name, value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value <= _LARGEST_COUNT


def _is_ids(value: Any) -> bool:
    # By whole lists, which are long: a test for each entry would cost half as much as decoding the JSON.
    return isinstance(value, list) and (
        not value or (set(map(type, value)) == {int} and min(value) >= 0 and max(value) <= _LARGEST_ID)
    )


def _is_mask(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_ids, value))


def _is_logprobs(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    content = value.get("content") or []
    if not isinstance(content, list) or not set(map(type, content)) <= {dict}:
        return False
    numbers = [one.get("logprob", "") for one in content]
    if not set(map(type, numbers)) <= {float, int, type(None)}:
        return False
    return all(abs(one) <= _LARGEST_COUNT for one in numbers if type(one) is int)


def _is_spans(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(one, dict) and isinstance(one.get("version"), str | int) for one in value
    )


def _is_experts(value: Any) -> bool:
    return isinstance(value, str) and value.startswith(_NPY)


def _has_counts(*names: str) -> Callable[[Any], bool]:
    def is_one(value: Any) -> bool:
        return isinstance(value, dict) and all(value.get(name) is None or _is_count(value[name]) for name in names)

    return is_one


def _is_usage(value: Any) -> bool:
    if not _has_counts("prompt_tokens", "completion_tokens")(value):
        return False
    return _has_counts("cached_tokens")(value.get("prompt_tokens_details") or {})


def _is_metrics(value: Any) -> bool:
    counts = _has_counts("num_accepted_draft_tokens", "num_draft_tokens", "num_spec_steps")
    return isinstance(value, dict) and counts(value.get("speculative_decoding") or {})


_OF_ALL = {"usage": _is_usage, "metrics": _is_metrics}
_OF_A_CHOICE = {
    "index": _is_count,
    "token_ids": _is_ids,
    "logprobs": _is_logprobs,
    "sampling_mask": _is_mask,
    "text": _is_text,
    "finish_reason": _is_text,
    "weight_versions": _is_spans,
    "routed_experts": _is_experts,
}
