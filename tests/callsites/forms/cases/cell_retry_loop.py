"""A retry loop with a counter and a last error."""

import asyncio

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


class EmptyAnswer(RuntimeError):
    pass


async def with_retries(fn, *args, attempts=3, **kwargs):
    error = None
    for attempt in range(attempts):
        try:
            result = await fn(*args, **kwargs)
            if not result["meta_info"].get("output_token_logprobs"):
                raise EmptyAnswer(attempt)
            return result
        except EmptyAnswer as e:
            error = e
            await asyncio.sleep(0)
    raise error


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    out = await with_retries(post, url, {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True}, attempts=2)
    sample.response = out["text"]
    sample.metadata["tokens"] = [p[1] for p in out["meta_info"]["output_token_logprobs"]]
    return sample
