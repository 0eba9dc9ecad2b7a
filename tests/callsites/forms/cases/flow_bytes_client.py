"""aiter_lines through enumerate by hand, with a limit on the chunks."""

import json

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import _http_client as client


async def generate(args, sample, sampling_params):
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    payload = dict(input_ids=ids, sampling_params=sampling_params, return_logprob=True, stream=True)
    number = 0
    async with client.stream("POST", url, json=payload) as response:
        async for line in response.aiter_lines():
            prefix, sep, body = line.partition(": ")
            if prefix != "data" or not sep or body == "[DONE]":
                continue
            number += 1
            try:
                chunk = json.loads(body)
            except ValueError:
                continue
            if "meta_info" in chunk and chunk["meta_info"].get("finish_reason") is not None:
                sample.update_from_meta_info(args, chunk["meta_info"])
            sample.tokens = ids + [p[1] for p in chunk["meta_info"]["output_token_logprobs"]]
            if number >= 2:
                break
    sample.metadata["number"] = number
    return sample
