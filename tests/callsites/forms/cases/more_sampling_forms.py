"""Sampling parameters filtered, merged, and renamed by the caller."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post

LIMITS = {"max_new_tokens": 6}


async def generate(args, sample, sampling_params):
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    capped = {key: min(setting, LIMITS[key]) if key in LIMITS else setting for key, setting in sampling_params.items()}
    plain = {k: v for k, v in {"temperature": 0.0, "top_k": 1, "stop": None, "max_new_tokens": 3}.items() if v is not None}
    for params in (capped, plain, sampling_params | {"top_p": 0.5}, dict(sampling_params, stop="x"), {"max_new_tokens": 2}):
        out = await post(url, {"input_ids": ids, "sampling_params": params, "return_logprob": True})
        sample.metadata.setdefault("n", []).append(out["meta_info"]["completion_tokens"])
    sample.metadata["max"] = capped["max_new_tokens"]
    return sample
