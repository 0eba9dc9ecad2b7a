"""The payload starts from a constant, a deep copy of a template, and a class attribute."""

import copy

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post

BASE = {"return_logprob": True}


class Defaults:
    request = {"sampling_params": {"skip_special_tokens": False, "no_stop_trim": True}, "return_logprob": True}


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = state.tokenizer.encode(sample.prompt)
    first = await post(url, {**BASE, "input_ids": ids, "sampling_params": sampling_params})
    template = copy.deepcopy(Defaults.request)
    template["sampling_params"].update(sampling_params)
    template["input_ids"] = ids + [p[1] for p in first["meta_info"]["output_token_logprobs"]]
    second = await post(url, template)
    sample.tokens = template["input_ids"] + [p[1] for p in second["meta_info"]["output_token_logprobs"]]
    sample.metadata["untouched"] = "input_ids" not in Defaults.request
    return sample
