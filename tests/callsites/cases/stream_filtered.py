"""Lines are filtered before the loop sees them."""

import json

from slime.rollout.sglang_rollout import GenerateState
from slime.utils import http_utils


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    body = dict(input_ids=ids, sampling_params=sampling_params, stream=True, return_logprob=True)
    lengths = []
    async with http_utils._http_client.stream("POST", url, json=body) as response:
        lines = (line async for line in response.aiter_lines() if line and "[DONE]" not in line)
        async for line in lines:
            event = json.loads(line.removeprefix("data:"))
            lengths.append(len(event["meta_info"]["output_token_logprobs"]))
            sample.response = event["text"]
    sample.metadata["lengths"] = lengths
    return sample
