"""Everything by get with a default, `or` behind it."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    out = await post(url, {"input_ids": GenerateState(args).tokenizer.encode(sample.prompt), "sampling_params": sampling_params, "return_logprob": True})
    meta = (out or {}).get("meta_info") or {}
    finish = (meta.get("finish_reason") or {}).get("type", "unknown")
    pairs = meta.get("output_token_logprobs", None) or []
    sample.response = out.get("text", "") or ""
    sample.metadata["finish"] = finish
    sample.metadata["pairs"] = [(p[1] if len(p) > 1 else None) for p in pairs]
    sample.metadata["cached"] = meta.get("cached_tokens", 0) or 0
    sample.metadata["none"] = meta.get("input_token_logprobs")
    sample.metadata["version"] = meta.get("weight_version", "none")
    return sample
