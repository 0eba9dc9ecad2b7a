"""Sampling parameters of every kind, set in steps."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    sp = sampling_params.copy()
    sp.setdefault("min_new_tokens", 1)
    sp |= {"sampling_seed": 7, "ignore_eos": True}
    sp.update({"stop_token_ids": [5], "spaces_between_special_tokens": False}, top_k=4, repetition_penalty=1.1)
    del sp["temperature"]
    sp["temperature"] = 0.3
    if sp.get("max_new_tokens", 0) > 8:
        sp["max_new_tokens"] //= 2
    sample.metadata["keys"] = sorted(sp)
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    out = await post(f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate", {"input_ids": ids, "sampling_params": sp})
    sample.response = out["text"]
    return sample
