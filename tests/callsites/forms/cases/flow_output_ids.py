"""The stream's output_ids are read, no logprobs asked for."""

import json

from slime.rollout.sglang_rollout import GenerateState
from slime.utils import http_utils


async def generate(args, sample, sampling_params):
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    payload = {"input_ids": ids, "sampling_params": sampling_params, "stream": True}
    seen = 0
    async with http_utils._http_client.stream("POST", url, json=payload) as response:
        async for line in response.aiter_lines():
            if line.startswith("data: {"):
                chunk = json.loads(line[len("data: "):])
                sample.tokens = ids + chunk["output_ids"]
                sample.metadata.setdefault("new", []).append(chunk["output_ids"][seen:])
                seen = chunk["meta_info"]["completion_tokens"]
    sample.metadata["prompt"] = chunk["meta_info"]["prompt_tokens"]
    return sample
