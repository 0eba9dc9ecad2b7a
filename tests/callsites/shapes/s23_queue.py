"""Requests are collected and sent later; answers are paired with their prompts."""

import asyncio

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


def build(ids, params, **more):
    request = {"input_ids": ids, "sampling_params": params}
    request.update(more)
    return request


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    pending = []
    for suffix in ("a", "b"):
        pending.append(post(url, build(state.tokenizer.encode(sample.prompt + suffix), sampling_params, return_logprob=True)))
    done = await asyncio.gather(*pending)
    for suffix, answer in zip("ab", done, strict=True):
        sample.metadata[suffix] = [[round(lp, 3), tok] for lp, tok, *_ in answer["meta_info"]["output_token_logprobs"]]
    best = max(done, key=lambda answer: len(answer["output_ids"]))
    sample.response = best["text"]
    return sample
