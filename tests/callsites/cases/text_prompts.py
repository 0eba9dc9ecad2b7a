"""Prompts are text, some of them not the sample's."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    question = f"Q: {sample.prompt}\nA:"
    request = {"text": question, "sampling_params": sampling_params, "return_logprob": True}
    first = await post(url, request)
    request = {"text": question + first["text"], "sampling_params": {**sampling_params, "max_new_tokens": 2}}
    second = await post(url, request)
    sample.response = first["text"] + second["text"]
    sample.response_length = first["meta_info"]["completion_tokens"] + second["meta_info"]["completion_tokens"]
    sample.metadata["seen"] = [token for _, token, _ in first["meta_info"]["output_token_logprobs"]]
    sample.metadata["prompt_tokens"] = first["meta_info"]["prompt_tokens"]
    assert state.tokenizer is not None
    return sample
