"""Only every other chunk is decoded, and the last one."""

import json

from slime.rollout.sglang_rollout import GenerateState
from slime.utils import http_utils


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    payload = {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True, "stream": True}
    seen, skipped = 0, None
    async with http_utils._http_client.stream("POST", url, json=payload) as response:
        async for line in response.aiter_lines():
            if not line.startswith("data: {"):
                continue
            seen += 1
            if seen % 2 == 0:
                skipped = line
                continue
            skipped = None
            chunk = json.loads(line[6:])
    if skipped is not None:
        chunk = json.loads(skipped[6:])
    sample.response = chunk["text"]
    sample.tokens = ids + [p[1] for p in chunk["meta_info"]["output_token_logprobs"]]
    return sample
