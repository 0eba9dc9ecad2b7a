"""The request is kept for a log: its keys stay what they were."""

import copy

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    payload = {"input_ids": GenerateState(args).tokenizer.encode(sample.prompt), "sampling_params": copy.deepcopy(sampling_params)}
    payload["sampling_params"]["max_new_tokens"] = 7
    payload.setdefault("return_logprob", True)
    sample.metadata["request"] = payload
    output = await post(url, payload)
    sample.metadata["answer"] = {k: v for k, v in output.items() if k != "meta_info"}
    sample.metadata["reason"] = {**output["meta_info"]["finish_reason"]}
    sample.metadata["known"] = sorted(set(output["meta_info"]) & {"id", "prompt_tokens", "completion_tokens", "cached_tokens"})
    return sample
