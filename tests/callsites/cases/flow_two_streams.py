"""Two streams in one function, one inside a helper that takes the client."""

import asyncio
import json

from slime.rollout.sglang_rollout import GenerateState
from slime.utils import http_utils


async def last_chunk(client, url, payload):
    latest = None
    async with client.stream("POST", url, json=payload) as response:
        async for line in response.aiter_lines():
            if line[:5] != "data:" or line[5:].strip() == "[DONE]":
                continue
            latest = json.loads(line[5:])
            yield latest


async def collect(client, url, payload):
    return [chunk["text"] async for chunk in last_chunk(client, url, payload)]


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    payload = {"input_ids": ids, "sampling_params": sampling_params, "stream": True}
    client = http_utils._http_client
    one, two = await asyncio.gather(collect(client, url, payload), collect(client, url, dict(payload)))
    sample.metadata["texts"] = [one[-1], two[-1]]
    sample.metadata["chunks"] = [len(one), len(two)]
    return sample
