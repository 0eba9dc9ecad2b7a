"""The lines are pulled by hand."""

import json

from slime.rollout.sglang_rollout import GenerateState
from slime.utils import http_utils


async def generate(args, sample, sampling_params):
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    payload = {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True, "stream": True}
    async with http_utils._http_client.stream("POST", url, json=payload) as response:
        lines = aiter(response.aiter_lines())
        while True:
            try:
                line = await anext(lines)
            except StopAsyncIteration:
                break
            line = line.removeprefix("data:").strip()
            if not line or line == "[DONE]":
                continue
            chunk = json.loads(line)
            sample.response = chunk["text"]
            sample.metadata["n"] = len(chunk["meta_info"].get("output_token_logprobs", ()))
    sample.update_from_meta_info(args, chunk["meta_info"])
    return sample
