"""Chunks come out of an asynchronous generator that nobody else's code is in."""

import json

from slime.rollout.sglang_rollout import GenerateState
from slime.utils import http_utils


async def chunks(url, payload):
    async with http_utils._http_client.stream("POST", url, json=payload) as response:
        response.raise_for_status()
        async for line in response.aiter_lines():
            if line.startswith("data:") and (body := line[5:].strip()) != "[DONE]":
                yield json.loads(body)


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    payload = {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True, "stream": True}
    seen = 0
    async for chunk in chunks(url, payload):
        pairs = chunk["meta_info"]["output_token_logprobs"]
        assert len(pairs) >= seen
        seen = len(pairs)
        sample.tokens = ids + [p[1] for p in pairs]
        sample.rollout_log_probs = [p[0] for p in pairs]
        sample.response = chunk["text"]
        meta = chunk["meta_info"]
    sample.response_length = seen
    sample.update_from_meta_info(args, meta)
    return sample
