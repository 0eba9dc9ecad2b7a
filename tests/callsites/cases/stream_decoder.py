"""A line is decoded by a function that gives None for what is no chunk."""

import json

from slime.rollout.sglang_rollout import GenerateState
from slime.utils import http_utils

PREFIX = "data:"


def decode(line):
    if not line or not line.startswith(PREFIX):
        return None
    data = line[len(PREFIX) :].strip()
    if data in ("", "[DONE]"):
        return None
    try:
        return json.loads(data)
    except json.JSONDecodeError:
        return None


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    body = {"input_ids": ids, "sampling_params": sampling_params, "stream": True, "return_logprob": True}
    last = None
    async with http_utils._http_client.stream("POST", url, json=body, headers=None) as response:
        async for line in response.aiter_lines():
            chunk = decode(line)
            if chunk is None:
                continue
            last = chunk
    sample.response = last["text"]
    sample.tokens = ids + [token for _, token, _ in last["meta_info"]["output_token_logprobs"]]
    sample.update_from_meta_info(args, last["meta_info"])
    return sample
