"""What is new in each chunk is what the cumulative view has more than before."""

import json

from slime.rollout.sglang_rollout import GenerateState
from slime.utils import http_utils


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    payload = {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True, "stream": True}
    shown, counted = "", 0
    async with http_utils._http_client.stream("POST", url, json=payload) as response:
        response.raise_for_status()
        async for raw in response.aiter_lines():
            if not raw.startswith("data: {"):
                continue
            chunk = json.loads(raw[6:])
            shown += chunk["text"][len(shown) :]
            fresh = chunk["meta_info"]["output_token_logprobs"][counted:]
            counted += len(fresh)
            sample.metadata.setdefault("steps", []).append([p[1] for p in fresh])
    sample.response, sample.response_length = shown, counted
    return sample
