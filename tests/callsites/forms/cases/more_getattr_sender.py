"""The sender by getattr, from a table, as a default, through functools.wraps."""

import functools

from slime.rollout.sglang_rollout import GenerateState
from slime.utils import http_utils
from slime.utils.http_utils import post

SENDERS = {"json": post}


def logged(send):
    @functools.wraps(send)
    async def wrapper(url, payload, **kwargs):
        answer = await send(url, payload, **kwargs)
        wrapper.seen += answer["meta_info"]["completion_tokens"]
        return answer

    wrapper.seen = 0
    return wrapper


async def generate(args, sample, sampling_params):
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    payload = {"input_ids": GenerateState(args).tokenizer.encode(sample.prompt), "sampling_params": sampling_params}
    counting = logged(post)
    for send in (getattr(http_utils, "post"), SENDERS["json"], counting):
        out = await send(url, payload)
        sample.response += out["text"]
    sample.metadata["seen"] = counting.seen
    return sample
