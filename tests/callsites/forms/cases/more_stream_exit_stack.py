"""The stream is entered by an exit stack; the chunk is a parsed object."""

import contextlib
import json
from types import SimpleNamespace

from slime.rollout.sglang_rollout import GenerateState
from slime.utils import http_utils


async def generate(args, sample, sampling_params):
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    payload = {"input_ids": GenerateState(args).tokenizer.encode(sample.prompt), "sampling_params": sampling_params, "return_logprob": True, "stream": True}
    async with contextlib.AsyncExitStack() as stack:
        response = await stack.enter_async_context(http_utils._http_client.stream("POST", url, json=payload))
        async for line in response.aiter_lines():
            if line.startswith("data: {"):
                event = SimpleNamespace(**json.loads(line[6:]))
                sample.response = event.text
                sample.metadata["done"] = event.meta_info["finish_reason"]
    sample.tokens = event.output_ids
    return sample
