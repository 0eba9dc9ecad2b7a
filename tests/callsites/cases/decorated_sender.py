"""The function that sends is decorated with retries of the module's own."""

import functools

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


def patient(times):
    def decorate(send):
        @functools.wraps(send)
        async def again(*args, **kwargs):
            for attempt in range(times):
                try:
                    return await send(*args, **kwargs)
                except ConnectionError:
                    if attempt == times - 1:
                        raise

        return again

    return decorate


@patient(times=2)
async def ask(url, ids, params):
    return await post(url, {"input_ids": ids, "sampling_params": params, "return_logprob": True})


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    answer = await ask(url, ids, sampling_params)
    sample.response = answer["text"]
    sample.tokens = ids + [p[1] for p in answer["meta_info"]["output_token_logprobs"]]
    return sample
