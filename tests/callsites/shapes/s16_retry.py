"""A retry helper is handed the function that sends."""

import asyncio

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def retry(send, *given, tries=3):
    for attempt in range(tries):
        try:
            return await send(*given)
        except OSError:
            await asyncio.sleep(0)
    raise RuntimeError("no answer")


async def generate(args, sample, sampling_params):
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    reply = await retry(post, url, {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True})
    other = await retry(lambda: post(url, {"input_ids": ids + reply["output_ids"], "sampling_params": sampling_params}))
    sample.response = reply["text"] + other["text"]
    sample.rollout_log_probs = [p[0] for p in reply["meta_info"]["output_token_logprobs"]]
    return sample
