"""Requests are read in the order in which they finish."""

import asyncio

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = state.tokenizer.encode(sample.prompt)
    waiting = [post(url, {"input_ids": ids, "sampling_params": sampling_params}) for _ in range(3)]
    texts, tokens = [], 0
    for soonest in asyncio.as_completed(waiting):
        output = await soonest
        texts.append(output["text"])
        tokens += output["meta_info"]["completion_tokens"]
    sample.metadata["texts"] = sorted(texts)
    sample.metadata["tokens"] = tokens
    return sample
