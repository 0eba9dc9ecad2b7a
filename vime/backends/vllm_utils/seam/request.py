"""Build a vLLM generate request from an upstream-shaped one.

The body that a rollout function writes keeps upstream's shape (a prompt, `sampling_params`, what to return); each field
may be spelled in upstream's words or in vLLM's, and vLLM's spelling wins where both stand.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .encode import int_list
from .errors import UnsupportedRequest
from .sampling import sampling_params

_PASSED = {
    "rid": "request_id",
    "request_id": "request_id",
    "lora_path": "model",
    "model": "model",
    "extra_key": "cache_salt",
    "cache_salt": "cache_salt",
    "priority": "priority",
    "kv_transfer_params": "kv_transfer_params",
    "ec_transfer_params": "ec_transfer_params",
    "features": "features",
    "content_parts": "content_parts",
}
_READ_HERE = {
    "input_ids",
    "token_ids",
    "text",
    "sampling_params",
    "return_logprob",
    "logprobs",
    "top_logprobs_num",
    "logprob_start_len",
    "prompt_logprob_start",
    "return_routed_experts",
    "routed_experts_start_len",
    "stream",
    "stream_options",
    "output_mode",
}
_WITHOUT_EFFECT = {"return_text_in_logprobs", "log_metrics", "no_logs", "modalities", "background", "conversation_id"}
_REFUSED = {
    "image_data": "the token route takes no images; render the messages first and send their features",
    "video_data": "the token route takes no videos",
    "audio_data": "the token route takes no audio",
    "input_embeds": "the token route takes token ids only",
    "session_params": "vLLM keeps no sessions",
    "custom_logit_processor": "logits processors are a start-up option of vLLM",
    "return_hidden_states": "vLLM returns no hidden states on this route",
    "token_ids_logprob": "ask for prompt_logprob_token_ids in sampling_params",
}


@dataclass(frozen=True)
class Asked:
    """What the answer's reader must know of the request. None where the request is not known."""

    prompt_ids: tuple[int, ...] | None = None
    logprobs: bool | None = None
    prompt_logprob_start: int = 0
    routed_experts: bool | None = None
    routed_experts_start: int | None = None
    sampling_mask: bool = False
    scoring: bool = False
    no_stop_trim: bool = False
    skip_special_tokens: bool = True


class GenerateRequest(dict):
    """The body for POST /inference/v1/generate; `asked` is for the reader of the answer and is not sent."""

    asked: Asked


def generate_request(body: Mapping[str, Any], tokenizer: Any = None) -> GenerateRequest:
    """The vLLM request that asks for what `body` asks for. `body` is not changed.

    A text prompt is encoded by `tokenizer`, with special tokens, as the upstream engine does. Raises UnsupportedRequest
    for what vLLM would reject or ignore (images, batches, unknown fields).
    """
    if isinstance(body, GenerateRequest):
        return body
    _refuse_unknown(body)
    prompt_ids = _prompt_ids(body, tokenizer)
    wanted = body.get("sampling_params") or {}
    if not isinstance(wanted, Mapping):
        raise UnsupportedRequest("sampling_params", "one set for one prompt; send a batch as single requests")
    sampling = sampling_params(wanted)
    asked = _asked(body, wanted, sampling, prompt_ids)
    if asked.scoring:
        sampling["max_tokens"] = 1
    _ask_for_logprobs(sampling, body, asked)
    if asked.routed_experts_start is not None:
        sampling["routed_experts_prompt_start"] = asked.routed_experts_start

    request = GenerateRequest(token_ids=prompt_ids, sampling_params=sampling)
    request.asked = asked
    request.update({new: body[old] for old, new in _PASSED.items() if body.get(old) is not None})
    if body.get("stream"):
        request["stream"] = True
        request["stream_options"] = {"include_usage": True, **(body.get("stream_options") or {})}
    # A server that does not decode refuses to give text; a stream is decoded here where there is a tokenizer.
    decoded_there = sampling.get("detokenize", True) and not (body.get("stream") and tokenizer)
    if body.get("output_mode") or decoded_there:
        request["output_mode"] = body.get("output_mode") or "text"
    return request


def asked_of(body: Mapping[str, Any] | None) -> Asked:
    """What `body`, in either shape, asks for; nothing known for None."""
    if isinstance(body, GenerateRequest):
        return body.asked
    if not isinstance(body, Mapping) or not is_request(body):
        return Asked()
    wanted = body.get("sampling_params") or {}
    ids = body.get("token_ids", body.get("input_ids"))
    return _asked(body, wanted, sampling_params(wanted), None if ids is None else int_list(ids))


def is_request(body: Any) -> bool:
    """Whether `body` has a prompt and sampling parameters, in either spelling."""
    return isinstance(body, Mapping) and "sampling_params" in body and not body.keys().isdisjoint(_PROMPTS)


_PROMPTS = ("token_ids", "input_ids", "text")
_KNOWN = _PASSED.keys() | _READ_HERE | _WITHOUT_EFFECT | _REFUSED.keys()


def _refuse_unknown(body: Mapping[str, Any]) -> None:
    for key, value in body.items():
        if key in _REFUSED and value:
            raise UnsupportedRequest(key, _REFUSED[key])
        if key not in _KNOWN and value is not None:
            raise UnsupportedRequest(key, "no such field in vLLM's generate request, which would ignore it")


def _prompt_ids(body: Mapping[str, Any], tokenizer: Any) -> list[int]:
    ids = body.get("token_ids", body.get("input_ids"))
    if ids is None:
        text = body.get("text")
        if not isinstance(text, str):
            raise UnsupportedRequest("text", "one string; send a batch as single requests")
        if tokenizer is None:
            raise UnsupportedRequest(
                "text", "vLLM's token route takes token ids, and there is no tokenizer to make them"
            )
        ids = tokenizer.encode(text)
    try:
        return int_list(ids)
    except TypeError as e:
        raise UnsupportedRequest("input_ids", "one list of token ids; send a batch as single requests") from e


def _asked(body: Mapping[str, Any], wanted: Mapping[str, Any], sampling: dict, prompt_ids: list[int] | None) -> Asked:
    start = body.get("prompt_logprob_start", body.get("logprob_start_len"))
    return Asked(
        prompt_ids=None if prompt_ids is None else tuple(prompt_ids),
        logprobs=bool(body.get("logprobs", body.get("return_logprob"))),
        prompt_logprob_start=-1 if start is None else start,
        routed_experts=bool(body.get("return_routed_experts")),
        routed_experts_start=body.get("routed_experts_start_len"),
        sampling_mask=bool((wanted.get("custom_params") or {}).get("return_top_p_token_ids")),
        scoring=sampling.get("max_tokens") == 0,
        no_stop_trim=bool(sampling.get("include_stop_str_in_output")),
        skip_special_tokens=bool(sampling.get("skip_special_tokens", True)),
    )


def _ask_for_logprobs(sampling: dict[str, Any], body: Mapping[str, Any], asked: Asked) -> None:
    """Logprobs of the generated tokens, of the prompt, or both; a scoring call needs the prompt's alone."""
    if not asked.logprobs:
        return
    of_prompt = asked.prompt_logprob_start >= 0
    if of_prompt and body.get("stream"):
        raise UnsupportedRequest("logprob_start_len", "vLLM's streams carry no logprobs of the prompt")
    if of_prompt:
        sampling["prompt_logprobs"] = 0
    if not (asked.scoring and of_prompt):
        sampling["logprobs"] = max(1, int(body.get("logprobs") or 1), int(body.get("top_logprobs_num") or 0))
