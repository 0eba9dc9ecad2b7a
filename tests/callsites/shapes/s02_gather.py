"""Several requests at once; the answers come back as a list."""

import asyncio

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = "http://{}:{}/generate".format(args.sglang_router_ip, args.sglang_router_port)
    bodies = [{"input_ids": state.tokenizer.encode(sample.prompt + mark), "sampling_params": sampling_params} for mark in "xy"]
    answers = await asyncio.gather(*[post(url, body) for body in bodies])
    first, second = answers
    sample.response = first["text"] + second["text"]
    sample.metadata["kinds"] = [answer["meta_info"]["finish_reason"]["type"] for answer in answers]
    sample.metadata["ids"] = [answer["output_ids"] for answer in answers]
    return sample
