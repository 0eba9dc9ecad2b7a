"""A tree search calls itself."""

import asyncio

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def expand(args, state, ids, params, depth):
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    payload = make_payload(ids, params)
    output = await post(url, payload)
    new = [x[1] for x in output["meta_info"]["output_token_logprobs"]]
    value = sum(x[0] for x in output["meta_info"]["output_token_logprobs"])
    if depth == 0 or output["meta_info"]["finish_reason"]["type"] == "length":
        return value, ids + new, output["text"]
    best = max(await asyncio.gather(*[expand(args, state, ids + new, params, depth - 1) for _ in range(2)]), key=lambda r: r[0])
    return value + best[0], best[1], output["text"] + best[2]


def make_payload(ids, params):
    return {"input_ids": ids, "sampling_params": params, "return_logprob": True}


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    ids = state.tokenizer.encode(sample.prompt, add_special_tokens=False)
    value, sample.tokens, sample.response = await expand(args, state, ids, sampling_params, 1)
    sample.metadata["value"] = round(value, 4)
    return sample
