"""A partial sample goes on where it stopped, with the budget that is left."""

from copy import deepcopy

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post
from slime.utils.types import Sample


async def generate(args, sample: Sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    assert sample.status in (Sample.Status.PENDING, Sample.Status.ABORTED), f"{sample.status=}"
    sampling_params = deepcopy(sampling_params)
    prompt_ids = state.tokenizer.encode(sample.prompt, add_special_tokens=False)
    if len(sample.response) > 0:
        sampling_params["max_new_tokens"] -= len(sample.tokens) - len(prompt_ids)
    assert sampling_params["max_new_tokens"] >= 0, sampling_params["max_new_tokens"]
    if sampling_params["max_new_tokens"] == 0:
        sample.status = Sample.Status.TRUNCATED
        return sample
    payload = {"sampling_params": sampling_params, "return_logprob": True}
    if len(sample.response) > 0:
        payload["input_ids"] = sample.tokens
    else:
        payload["input_ids"] = prompt_ids
        if not sample.tokens:
            sample.tokens = prompt_ids
    output = await post(url, payload)
    if "output_token_logprobs" in output["meta_info"]:
        new_tokens = [item[1] for item in output["meta_info"]["output_token_logprobs"]]
        new_logps = [item[0] for item in output["meta_info"]["output_token_logprobs"]]
    else:
        new_tokens, new_logps = [], []
    sample.tokens = sample.tokens + new_tokens
    sample.response_length += len(new_tokens)
    sample.response += output["text"]
    if sample.rollout_log_probs is None:
        sample.rollout_log_probs = []
    sample.rollout_log_probs += new_logps
    if sample.loss_mask is not None:
        sample.loss_mask += [1] * len(new_tokens)
    if "weight_version" in output["meta_info"]:
        sample.weight_versions.append(output["meta_info"]["weight_version"])
    ends = {"length": Sample.Status.TRUNCATED, "abort": Sample.Status.ABORTED, "stop": Sample.Status.COMPLETED}
    sample.status = ends[output["meta_info"]["finish_reason"]["type"]]
    return sample
