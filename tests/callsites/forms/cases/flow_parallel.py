"""Two streams at once."""

import asyncio
import json

from slime.rollout.sglang_rollout import GenerateState
from slime.utils import http_utils


async def run(url, payload):
    kept = []
    async with http_utils._http_client.stream("POST", url, json=payload) as response:
        async for line in response.aiter_lines():
            if not line.startswith("data: {"):
                continue
            kept.append(json.loads(line[6:])["text"])
    return kept


async def generate(args, sample, sampling_params):
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    payloads = [{"input_ids": ids + [i], "sampling_params": sampling_params, "stream": True} for i in (1, 2)]
    sample.metadata["texts"] = await asyncio.gather(*(run(url, p) for p in payloads))
    return sample
