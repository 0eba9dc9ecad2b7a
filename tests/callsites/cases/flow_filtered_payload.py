"""The payload passes through comprehensions and copies on its way out."""

import copy

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


def without_none(body):
    return {key: value for key, value in body.items() if value is not None}


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    full = {"input_ids": ids, "text": None, "sampling_params": sampling_params, "return_logprob": True, "rid": None}
    first = await post(url, without_none(full))
    params = {key: value for key, value in sampling_params.items() if key != "temperature"}
    second = await post(url, without_none({**copy.copy(full), "sampling_params": params}))
    sample.response = first["text"] + second["text"]
    sample.tokens = full["input_ids"] + [p[1] for p in second["meta_info"]["output_token_logprobs"]]
    sample.metadata["keys"] = len(full)
    return sample
