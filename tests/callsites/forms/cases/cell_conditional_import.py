"""Imports inside the function and under TYPE_CHECKING."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from slime.utils.types import Sample


async def generate(args, sample: Sample, sampling_params: dict) -> Sample:
    from slime.rollout.sglang_rollout import GenerateState
    from slime.utils.http_utils import post

    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    out = await post(
        f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate",
        {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True},
    )
    sample.response = out["text"]
    sample.metadata["toks"] = [x[1] for x in out["meta_info"]["output_token_logprobs"]]
    return sample
