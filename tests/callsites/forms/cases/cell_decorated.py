"""A decorator of the module's own retries, a cache keeps."""

import functools

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


def traced(name):
    def wrap(fn):
        @functools.wraps(fn)
        async def inner(*args, **kwargs):
            result = await fn(*args, **kwargs)
            inner.names.append((name, result["meta_info"]["completion_tokens"]))
            return result

        inner.names = []
        return inner

    return wrap


@traced("ask")
async def ask(url, ids, params):
    return await post(url, {"input_ids": ids, "sampling_params": params, "return_logprob": True})


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    out = await ask(f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate", ids, sampling_params)
    sample.response = out["text"]
    sample.metadata["names"] = ask.names
    sample.metadata["logprobs"] = [round(lp, 3) for lp, *_ in out["meta_info"]["output_token_logprobs"]]
    return sample
