"""One function, streamed or not by an option."""

import json

from slime.rollout.sglang_rollout import GenerateState
from slime.utils import http_utils
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    payload = {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True}
    if getattr(args, "stream", False):
        output = {}
        async with http_utils._http_client.stream("POST", url, json={**payload, "stream": True}) as response:
            async for line in response.aiter_lines():
                if line.startswith("data: {"):
                    output = json.loads(line[6:])
    else:
        output = await post(url, payload)
    sample.tokens = ids + [p[1] for p in output["meta_info"]["output_token_logprobs"]]
    sample.response = output["text"]
    sample.update_from_meta_info(args, output["meta_info"])
    return sample
