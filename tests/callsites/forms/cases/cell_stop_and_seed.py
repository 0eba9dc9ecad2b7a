"""Sampling parameters as a literal, with a seed per sample and no trimming."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post

BASE = dict(temperature=0.8, top_p=0.95, top_k=-1, max_new_tokens=8, no_stop_trim=True, skip_special_tokens=False, spaces_between_special_tokens=False)


def sampling_for(sample, **more):
    params = {**BASE, "stop": ["</s>"], "stop_token_ids": None}
    params["sampling_seed"] = 100 + sample.index
    for name, setting in more.items():
        params[name] = setting
    return params


async def generate(args, sample, sampling_params):
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    params = sampling_for(sample, min_new_tokens=2)
    out = await post(url, {"input_ids": ids, "sampling_params": params, "return_logprob": True})
    sample.response = out["text"]
    sample.metadata["seed"] = params["sampling_seed"]
    sample.metadata["max"] = params["max_new_tokens"]
    return sample
