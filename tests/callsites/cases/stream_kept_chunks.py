"""All chunks are kept and read afterwards, from the first to the last."""

import json

from slime.rollout.sglang_rollout import GenerateState
from slime.utils import http_utils


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    payload = {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True, "stream": True}
    chunks = []
    async with http_utils._http_client.stream("POST", url, json=payload) as response:
        async for line in response.aiter_lines():
            if line.startswith("data: {"):
                chunks.append(json.loads(line[6:]))
    sample.metadata["texts"] = [chunk["text"] for chunk in chunks]
    sample.metadata["counts"] = [len(chunk["meta_info"]["output_token_logprobs"]) for chunk in chunks]
    sample.metadata["ended"] = [bool(chunk["meta_info"]["finish_reason"]) for chunk in chunks]
    sample.response = chunks[-1]["text"]
    return sample
