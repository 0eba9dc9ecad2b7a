"""Only the last line is decoded, since it says everything."""

import json

from slime.rollout.sglang_rollout import GenerateState
from slime.utils import http_utils


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    payload = {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True, "stream": True}
    async with http_utils._http_client.stream("POST", url, json=payload) as response:
        response.raise_for_status()
        lines = [line async for line in response.aiter_lines() if line.startswith("data: {")]
    final = json.loads(lines[-1][len("data: ") :])
    sample.response = final["text"]
    sample.tokens = ids + [p[1] for p in final["meta_info"]["output_token_logprobs"]]
    sample.update_from_meta_info(args, final["meta_info"])
    return sample
