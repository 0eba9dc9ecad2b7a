"""A module-level template is copied for each request."""

import copy

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post

TEMPLATE = {"sampling_params": {"skip_special_tokens": False, "spaces_between_special_tokens": False}, "return_logprob": True}


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    request = copy.deepcopy(TEMPLATE)
    request["sampling_params"].update(sampling_params)
    request["input_ids"] = state.tokenizer.encode(sample.prompt, add_special_tokens=False)
    output = await post(url, request)
    sample.response = output["text"]
    sample.rollout_log_probs = [x[0] for x in output["meta_info"]["output_token_logprobs"]]
    sample.metadata["template"] = sorted(TEMPLATE["sampling_params"])
    return sample
