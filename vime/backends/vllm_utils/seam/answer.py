"""Read a vLLM answer into the dict that the interface speaks: text, output_ids, meta_info."""

import logging
import math
from collections.abc import Mapping, Sequence
from typing import Any

from .encode import int32_base64, npy_to_int32, ragged
from .errors import IncompleteAnswer
from .request import Asked, asked_of

logger = logging.getLogger(__name__)

REQUEST_PREFIX = "generate-tokens-"
"""What vLLM puts before the id of a request; an abort by id needs it, answers are shown without it."""


class Answer(dict):
    """One completion in upstream's shape: a plain dict in every respect, with names for what is read most."""

    @property
    def text(self) -> str:
        return self["text"]

    @property
    def token_ids(self) -> list[int]:
        return self["output_ids"]

    @property
    def log_probs(self) -> list[float] | None:
        """None when the engine returned none."""
        pairs = self["meta_info"].get("output_token_logprobs")
        return None if pairs is None else [pair[0] for pair in pairs]

    @property
    def finish_type(self) -> str | None:
        return (self["meta_info"]["finish_reason"] or {}).get("type")


def read_answer(raw: Any, request: Mapping[str, Any] | None = None) -> Any:
    """The answer of POST /inference/v1/generate in upstream's shape; a list of them when several were asked for.

    `request` is what was sent (or the body that it was built from). What is no such answer (an error, another service's
    reply) is returned as it is. Raises IncompleteAnswer when there is not a logprob for each token. Routed experts or
    sampling masks that were asked for and did not come are absent, as they are upstream, and the log says so.
    """
    if not isinstance(raw, Mapping) or "choices" not in raw:
        return raw
    asked = asked_of(request)
    answers = [_answer(raw, choice, asked) for choice in raw["choices"]]
    return answers[0] if len(answers) == 1 else answers


def _answer(raw: Mapping[str, Any], choice: Mapping[str, Any], asked: Asked) -> Answer:
    of_prompt = raw.get("prompt_logprobs")
    if asked.scoring or (asked.logprobs is None and bool(of_prompt) and not choice.get("logprobs")):
        choice = without_tokens(choice, logprobs=bool(of_prompt))
    ids = list(choice["token_ids"])
    meta = meta_info(raw, choice, asked, ids)
    pairs = token_pairs(ids, choice.get("logprobs"))
    if pairs is not None:
        meta["output_token_logprobs"] = pairs
    if of_prompt:
        meta["input_token_logprobs"] = prompt_pairs(of_prompt, asked)
    answer = Answer(output_ids=ids, meta_info=meta)
    return answer if choice.get("text") is None else Answer(text=choice["text"], **answer)


def without_tokens(choice: Mapping[str, Any], logprobs: bool = False) -> dict[str, Any]:
    """A scoring call's choice, without the one token that vLLM must generate and nobody asked for."""
    content = {"content": []} if logprobs or choice.get("logprobs") is not None else None
    done = choice.get("finish_reason") and "length"
    nothing = {"token_ids": [], "text": "", "logprobs": content, "sampling_mask": None}
    return {**choice, **nothing, "finish_reason": done, "stop_reason": None}


def meta_info(raw: Mapping[str, Any], choice: Mapping[str, Any], asked: Asked, ids: Sequence[int]) -> dict[str, Any]:
    """Everything of meta_info but the logprobs. Keys that have no value are absent."""
    usage = raw.get("usage") or {}
    prompt_tokens = usage.get("prompt_tokens")
    if prompt_tokens is None and asked.prompt_ids is not None:
        prompt_tokens = len(asked.prompt_ids)
    meta: dict[str, Any] = {
        "id": str(raw.get("request_id", "")).removeprefix(REQUEST_PREFIX),
        "finish_reason": finish_reason(choice, ids),
        "prompt_tokens": prompt_tokens,
        "completion_tokens": len(ids),
        "cached_tokens": (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0,
    }
    if spans := choice.get("weight_versions"):
        meta["weight_version"] = spans[-1]["version"]
        if len(spans) > 1:
            # The weights were updated while it was generated.
            meta["weight_versions"] = [span["version"] for span in spans]
    if choice.get("routed_experts") is not None and asked.routed_experts is not False:
        meta["routed_experts"] = npy_to_int32(choice["routed_experts"])
        if asked.routed_experts_start is not None:
            meta["routed_experts_start_len"] = asked.routed_experts_start
    meta.update(sampling_mask(choice.get("sampling_mask")))
    if ids and choice.get("finish_reason") in ("stop", "length", "repetition"):
        _check_replay(meta, asked)
    meta.update(_speculation(raw.get("metrics")))
    return meta


def _check_replay(meta: Mapping[str, Any], asked: Asked) -> None:
    """Says so when the engine did not send what a trainer would replay; the key is absent then, as it is upstream. An
    abort may come before there is any."""
    if asked.routed_experts and "routed_experts" not in meta:
        logger.warning(
            "routed experts were asked for and did not come: the server needs --enable-return-routed-experts"
        )
    if asked.sampling_mask and "top_p_token_ids" not in meta:
        logger.warning(
            "the ids that sampling kept were asked for and did not come: the server needs --return-sampling-mask"
        )


def finish_reason(choice: Mapping[str, Any], ids: Sequence[int]) -> dict[str, Any] | None:
    """Upstream's dict for vLLM's word; None while the generation runs.

    What matched is the stop string or stop token; vLLM names none for the end of a sequence.
    """
    kind = choice.get("finish_reason")
    if kind is None:
        return None
    if kind == "length":
        return {"type": kind, "length": len(ids)}
    matched = choice.get("stop_reason")
    return {"type": kind} if matched is None else {"type": kind, "matched": matched}


def token_pairs(ids: Sequence[int], logprobs: Mapping[str, Any] | None) -> list[list[Any]] | None:
    """[logprob, token id, None] for each generated token; None when the engine returned no logprobs.

    A logprob that is null is NaN, which JSON has no word for.
    """
    if logprobs is None:
        return None
    content = logprobs.get("content") or []
    if len(content) != len(ids):
        raise IncompleteAnswer(f"{len(content)} logprobs for {len(ids)} tokens")
    known = (math.nan if entry["logprob"] is None else entry["logprob"] for entry in content)
    return [[logprob, token, None] for token, logprob in zip(ids, known, strict=True)]


def prompt_pairs(prompt_logprobs: Sequence[Mapping[str, Any] | None], asked: Asked) -> list[list[Any]]:
    """[logprob, token id, None] for each prompt token from where they were asked for; the first has no logprob."""
    start = max(0, asked.prompt_logprob_start)
    ids = asked.prompt_ids
    pairs = []
    for at, entry in enumerate(prompt_logprobs[start:], start):
        token = ids[at] if ids is not None else (int(next(iter(entry))) if entry else None)
        known = entry and at > start
        pairs.append([entry[str(token)]["logprob"] if known else None, token, None])
    return pairs


def sampling_mask(rows: Sequence[Sequence[int]] | None) -> dict[str, str]:
    """The tokens that the sampler kept at each position, as flat ids and offsets."""
    if rows is None:
        return {}
    flat, offsets = ragged(rows)
    return {"top_p_token_ids": int32_base64(flat), "top_p_token_offsets": int32_base64(offsets)}


def _speculation(metrics: Mapping[str, Any] | None) -> dict[str, int]:
    spec = (metrics or {}).get("speculative_decoding")
    if not spec:
        return {}
    return {
        "spec_accept_token_num": spec.get("num_accepted_draft_tokens") or 0,
        "spec_draft_token_num": spec.get("num_draft_tokens") or 0,
        "spec_verify_ct": spec.get("num_spec_steps") or 0,
    }
