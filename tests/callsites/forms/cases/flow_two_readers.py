"""One helper opens the stream, another parses, a third accumulates."""

import contextlib
import json

from slime.rollout.sglang_rollout import GenerateState
from slime.utils import http_utils


@contextlib.asynccontextmanager
async def opened(url, payload):
    async with http_utils._http_client.stream("POST", url, json=payload, headers=None) as response:
        response.raise_for_status()
        yield response


async def events(response):
    async for line in response.aiter_lines():
        if line.startswith("data:"):
            data = line[len("data:"):].strip()
            if data == "[DONE]":
                return
            yield json.loads(data)


async def generate(args, sample, sampling_params):
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    payload = {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True, "stream": True}
    count = 0
    async with opened(url, payload) as response:
        async for event in events(response):
            count += 1
            text, meta = event["text"], event["meta_info"]
    sample.metadata["count"] = count
    sample.response = text
    sample.rollout_log_probs = [p[0] for p in meta["output_token_logprobs"]]
    sample.update_from_meta_info(args, meta)
    return sample
