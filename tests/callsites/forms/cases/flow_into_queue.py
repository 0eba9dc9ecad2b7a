"""A producer puts chunks into a queue, the consumer takes them."""

import asyncio
import json

from slime.rollout.sglang_rollout import GenerateState
from slime.utils import http_utils


async def produce(url, payload, queue):
    async with http_utils._http_client.stream("POST", url, json=payload) as response:
        async for line in response.aiter_lines():
            if line.startswith("data: {"):
                await queue.put(json.loads(line[6:]))
    await queue.put(None)


async def generate(args, sample, sampling_params):
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    queue = asyncio.Queue()
    task = asyncio.create_task(produce(url, {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True, "stream": True}, queue))
    while (chunk := await queue.get()) is not None:
        sample.response = chunk["text"]
        sample.metadata["n"] = chunk["meta_info"]["completion_tokens"]
    await task
    return sample
