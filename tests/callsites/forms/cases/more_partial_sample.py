"""A partial sample is taken up where it was left."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post
from slime.utils.types import Sample


async def generate(args, sample: Sample, sampling_params):
    assert sample.status in (Sample.Status.PENDING, Sample.Status.ABORTED), f"{sample.status}"
    state = GenerateState(args)
    prompt_ids = state.tokenizer.encode(sample.prompt, add_special_tokens=False)
    params = sampling_params.copy()
    if len(sample.response) > 0:
        params["max_new_tokens"] -= len(sample.tokens) - len(prompt_ids)
    if params["max_new_tokens"] == 0:
        sample.status = Sample.Status.TRUNCATED
        return sample
    payload = {"sampling_params": params, "return_logprob": True}
    payload["input_ids"] = sample.tokens if len(sample.response) > 0 else prompt_ids
    if not sample.tokens:
        sample.tokens = prompt_ids
    output = await post(f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate", payload)
    new = output["meta_info"].get("output_token_logprobs", [])
    sample.append_response_tokens(args, tokens=[i[1] for i in new], log_probs=[i[0] for i in new], meta_info=output["meta_info"], text=output["text"])
    return sample
