"""A module-level template is copied and completed."""

from copy import deepcopy

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post

TEMPLATE = {"sampling_params": {"temperature": 0.5, "max_new_tokens": 9, "top_k": None}, "return_logprob": True}


async def generate(args, sample, sampling_params):
    request = deepcopy(TEMPLATE)
    request["input_ids"] = GenerateState(args).tokenizer.encode(sample.prompt)
    request["sampling_params"]["sampling_seed"] = 3
    result = await post(f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate", request)
    sample.response = result["text"]
    sample.response_length = result["meta_info"]["completion_tokens"]
    return sample
