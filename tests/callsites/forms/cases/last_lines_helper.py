"""Decoding by another module's function, of lines it is given."""

import json

from slime.rollout.sglang_rollout import GenerateState
from slime.utils import http_utils

DECODERS = {"json": json.loads}


async def generate(args, sample, sampling_params):
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    payload = {"input_ids": GenerateState(args).tokenizer.encode(sample.prompt), "sampling_params": sampling_params, "return_logprob": True, "stream": True}
    decode = DECODERS["json"]
    pending = []
    async with http_utils._http_client.stream("POST", url, json=payload) as response:
        async for line in response.aiter_lines():
            if line.startswith("data: {"):
                pending.append(line[6:])
    chunks = list(map(decode, pending))
    sample.response = chunks[-1]["text"]
    sample.metadata["all"] = [c["meta_info"]["completion_tokens"] for c in chunks]
    sample.update_from_meta_info(args, chunks[-1]["meta_info"])
    return sample
