"""Two builders, one behind the other, keywords handed through."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


def base_request(ids, **fields):
    return {"input_ids": ids, **fields}


def rollout_request(ids, params, **fields):
    fields.setdefault("return_logprob", True)
    return base_request(ids, sampling_params={**params, "skip_special_tokens": False}, **fields)


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = state.tokenizer.encode(sample.prompt, add_special_tokens=False)
    out = await post(url, rollout_request(ids, sampling_params))
    sample.response = out["text"]
    quiet = await post(url, rollout_request(ids, sampling_params, return_logprob=False))
    sample.metadata["second"] = [quiet["text"], "output_token_logprobs" in quiet["meta_info"]]
    sample.rollout_log_probs = [x[0] for x in out["meta_info"]["output_token_logprobs"]]
    return sample
