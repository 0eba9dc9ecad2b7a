"""A builder with keyword arguments."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


def build_payload(ids=None, text=None, *, params, **extra):
    payload = {"sampling_params": dict(params)}
    if ids is not None:
        payload["input_ids"] = list(ids)
    else:
        payload["text"] = text
    payload.update(extra)
    return payload


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = state.tokenizer.encode(sample.prompt, add_special_tokens=False)
    out = await post(url, build_payload(ids, params=sampling_params, return_logprob=True))
    pairs = out["meta_info"]["output_token_logprobs"]
    sample.tokens = ids + [p[1] for p in pairs]
    second = await post(url, build_payload(text=sample.prompt + out["text"], params=sampling_params, return_logprob=True))
    sample.response = out["text"] + second["text"]
    sample.rollout_log_probs = [p[0] for p in pairs + second["meta_info"]["output_token_logprobs"]]
    return sample
