"""Requests go through a semaphore, several at once, exceptions returned."""

import asyncio

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


class Limited:
    def __init__(self, limit, url):
        self.gate = asyncio.Semaphore(limit)
        self.url = url

    async def __call__(self, payload):
        async with self.gate:
            return await post(self.url, payload)


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    limited = Limited(1, f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate")
    payloads = [{"input_ids": ids + [i], "sampling_params": sampling_params, "return_logprob": True} for i in range(3)]
    results = await asyncio.gather(*(limited(p) for p in payloads), return_exceptions=True)
    good = [r for r in results if not isinstance(r, BaseException)]
    best = max(good, key=lambda r: sum(p[0] for p in r["meta_info"]["output_token_logprobs"]))
    sample.response = best["text"]
    sample.metadata["texts"] = [r["text"] for r in good]
    sample.metadata["counts"] = [len(r["meta_info"]["output_token_logprobs"]) for r in good]
    return sample
