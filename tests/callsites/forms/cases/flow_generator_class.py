"""A class with __aiter__ wraps the stream."""

import json

from slime.rollout.sglang_rollout import GenerateState
from slime.utils import http_utils


class Events:
    def __init__(self, response):
        self.response = response

    async def __aiter__(self):
        async for line in self.response.aiter_lines():
            if line[:5] == "data:" and "[DONE]" not in line:
                yield json.loads(line[5:])


async def generate(args, sample, sampling_params):
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    request = {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True}
    async with http_utils._http_client.stream("POST", url, json={**request, "stream": True}) as response:
        async for event in Events(response):
            info = event["meta_info"]
            sample.response = event["text"]
            sample.metadata.setdefault("lengths", []).append(len(info["output_token_logprobs"]))
    sample.update_from_meta_info(args, info)
    return sample
