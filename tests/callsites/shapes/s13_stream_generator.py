"""The stream is parsed in an asynchronous generator."""

import json

from slime.rollout.sglang_rollout import GenerateState
from slime.utils import http_utils


async def chunks(url, payload):
    async with http_utils._http_client.stream("POST", url, json=payload) as response:
        response.raise_for_status()
        async for line in response.aiter_lines():
            if line.startswith("data:") and line != "data: [DONE]":
                yield json.loads(line[5:])


async def generate(args, sample, sampling_params):
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    kept, text, last = [], "", None
    async for chunk in chunks(url, {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True, "stream": True}):
        text = chunk["text"]
        last = chunk["meta_info"]
        kept.append(len(last["output_token_logprobs"]))
    sample.response = text
    sample.metadata["lengths"] = kept
    sample.update_from_meta_info(args, last)
    return sample
