"""Answers of a gather are unpacked at once."""

import asyncio

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post

HEADERS = None


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = state.tokenizer.encode(sample.prompt)
    body = {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True}
    first, second = await asyncio.gather(post(url, body), post(url, dict(body), headers=HEADERS))
    (head, *_), tail = first["meta_info"]["output_token_logprobs"], second["meta_info"]["output_token_logprobs"][-1]
    sample.metadata["ends"] = [head[1], tail[1]]
    sample.metadata["gap"] = round(head[0] - tail[0], 4)
    sample.response = first["text"]
    return sample
