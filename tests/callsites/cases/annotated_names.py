"""Everything has a type, and some of it is cast."""

from __future__ import annotations

from typing import Any, TypedDict, cast

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post
from slime.utils.types import Sample


class Body(TypedDict, total=False):
    input_ids: list[int]
    sampling_params: dict[str, Any]
    return_logprob: bool


async def generate(args, sample: Sample, sampling_params: dict[str, Any]) -> Sample:
    ids: list[int] = GenerateState(args).tokenizer.encode(sample.prompt)
    url: str = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    payload: Body = {"input_ids": ids, "sampling_params": sampling_params}
    payload["return_logprob"] = True
    output: dict[str, Any] = cast("dict[str, Any]", await post(url, payload))
    meta: dict[str, Any] = output["meta_info"]
    pairs: list[tuple[float, int, str | None]] = meta["output_token_logprobs"]
    logps: list[float] = [pair[0] for pair in pairs]
    sample.rollout_log_probs = logps
    sample.tokens = ids + [pair[1] for pair in pairs]
    return sample
