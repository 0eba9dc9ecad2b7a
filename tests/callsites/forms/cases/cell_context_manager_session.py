"""A context manager of the module's own hands out the sender."""

import contextlib

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


@contextlib.asynccontextmanager
async def session(args):
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"

    async def send(ids, params):
        return await post(url, {"input_ids": ids, "sampling_params": params, "return_logprob": True})

    yield send


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    async with session(args) as send:
        out = await send(ids, sampling_params)
    sample.update_from_meta_info(args, out["meta_info"])
    sample.response = out["text"]
    sample.response_length = out["meta_info"]["completion_tokens"]
    return sample
