"""A client of the caller's own; the answer is JSON."""

import aiohttp

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.types import Sample


async def generate(args, sample: Sample, sampling_params):
    tokenizer = GenerateState(args).tokenizer
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    payload = {"input_ids": tokenizer.encode(sample.prompt), "sampling_params": sampling_params, "return_logprob": True}
    timeout = aiohttp.ClientTimeout(total=60)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        async with session.post(url, json=payload, headers={"X-Trace": "1"}) as response:
            response.raise_for_status()
            output = await response.json()
    sample.tokens = payload["input_ids"] + [p[1] for p in output["meta_info"]["output_token_logprobs"]]
    sample.response = output["text"]
    return sample
