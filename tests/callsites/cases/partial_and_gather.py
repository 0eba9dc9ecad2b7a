"""The sender is a partial; several requests run at once."""

import asyncio
from functools import partial

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    tokenizer = GenerateState(args).tokenizer
    send = partial(post, f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate", max_retries=3)
    payloads = [
        {"input_ids": tokenizer.encode(f"{sample.prompt}{i}"), "sampling_params": sampling_params, "return_logprob": True}
        for i in range(2)
    ]
    outputs = await asyncio.gather(*[send(payload) for payload in payloads])
    sample.metadata["texts"] = [output["text"] for output in outputs]
    sample.metadata["lengths"] = [len(output["meta_info"]["output_token_logprobs"]) for output in outputs]
    best = outputs[0]
    sample.update_from_meta_info(args, best["meta_info"])
    return sample
