"""The payload gets its name in the call, and the sender is mapped over several."""

import asyncio
from functools import partial

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    output = await post(url, body := {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True})
    bodies = [{**body, "input_ids": body["input_ids"] + [n]} for n in (1, 2)]
    others = await asyncio.gather(*map(partial(post, url), bodies))
    thirds = await asyncio.gather(*map(lambda one: post(url, one), bodies))
    sample.tokens = body["input_ids"] + [p[1] for p in output["meta_info"]["output_token_logprobs"]]
    sample.metadata["texts"] = [answer["text"] for answer in [*others, *thirds]]
    sample.metadata["lengths"] = [len(answer["meta_info"]["output_token_logprobs"]) for answer in others]
    return sample
