"""Payloads wait in a queue; whoever takes one reads it before and after it is sent."""

import asyncio
from collections import deque

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def worker(url, queue, results):
    while not queue.empty():
        name, payload = queue.get_nowait()
        output = await post(url, payload)
        results[name] = payload["input_ids"] + [p[1] for p in output["meta_info"]["output_token_logprobs"]]


async def generate(args, sample, sampling_params):
    tokenizer = GenerateState(args).tokenizer
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    queue, results = asyncio.Queue(), {}
    for name in ("a", "b"):
        body = {"input_ids": tokenizer.encode(name), "sampling_params": sampling_params, "return_logprob": True}
        queue.put_nowait((name, body))
    await worker(url, queue, results)
    sample.metadata["results"] = results
    left = deque([{"input_ids": [5], "sampling_params": sampling_params, "return_logprob": True}])
    while left:
        current = left.popleft()
        output = await post(url, current)
        if len(current["input_ids"]) < 3:
            left.append({**current, "input_ids": current["input_ids"] + [6]})
        sample.metadata.setdefault("kinds", []).append(output["meta_info"]["finish_reason"]["type"])
    return sample
