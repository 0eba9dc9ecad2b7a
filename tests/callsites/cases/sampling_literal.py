"""Sampling parameters are written on the spot, one of them conditional, one a single stop string."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    params = {
        "max_new_tokens": 4 if sample.index == 0 else 8,
        "temperature": getattr(args, "rollout_temperature", 1.0),
        "top_k": -1,
        "stop": "!",
        "sampling_seed": sample.index + 7,
    }
    if getattr(args, "minimum", None) is not None:
        params["min_new_tokens"] = args.minimum
    out = await post(url, {"input_ids": state.tokenizer.encode(sample.prompt), "sampling_params": params})
    sample.response = out["text"]
    return sample
