"""Answers are cached by prompt in a module's dict, under a lock."""

import asyncio

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post

_CACHE: dict[tuple[int, ...], dict] = {}


async def cached(url, ids, params, lock):
    key = tuple(ids)
    async with lock:
        if key not in _CACHE:
            _CACHE[key] = await post(url, {"input_ids": list(key), "sampling_params": params, "return_logprob": True})
    return _CACHE[key]


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    lock = asyncio.Lock()
    one, two = await asyncio.gather(cached(url, ids, sampling_params, lock), cached(url, ids, sampling_params, lock))
    sample.metadata["same"] = one is two
    sample.metadata["cached"] = one["meta_info"].get("cached_tokens")
    sample.metadata["tokens"] = [t for _, t, _ in two["meta_info"]["output_token_logprobs"]]
    sample.response = one["text"]
    return sample
