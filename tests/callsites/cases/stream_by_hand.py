"""The lines are taken one at a time, the response stands in an exit stack, the client on an object."""

import json
from contextlib import AsyncExitStack

from slime.rollout.sglang_rollout import GenerateState
from slime.utils import http_utils


class Streamer:
    def __init__(self):
        self.client = http_utils._http_client

    async def open(self, stack, url, payload):
        return await stack.enter_async_context(self.client.stream("POST", url, json=payload))


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    payload = {"input_ids": ids, "sampling_params": sampling_params, "stream": True}
    async with AsyncExitStack() as stack:
        response = await Streamer().open(stack, url, payload)
        lines = response.aiter_lines()
        while True:
            try:
                line = await anext(lines)
            except StopAsyncIteration:
                break
            if line.startswith("data: {"):
                chunk = json.loads(line[6:])
    sample.response = chunk["text"]
    sample.metadata["out"] = chunk["meta_info"]["completion_tokens"]
    return sample
