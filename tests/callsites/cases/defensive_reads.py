"""Nothing is taken for granted."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = state.tokenizer.encode(sample.prompt)
    out = await post(url, {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True})
    meta = (out or {}).get("meta_info") or {}
    pairs = meta.get("output_token_logprobs") or []
    sample.tokens = ids + [p[1] for p in pairs]
    sample.rollout_log_probs = [p[0] for p in pairs] or None
    sample.response = out.get("text", "") or ""
    sample.metadata["reason"] = ((meta.get("finish_reason") or {}).get("type") or "unknown").upper()
    sample.metadata["latency"] = meta.get("no_such_key", -1)
    sample.metadata["cached"] = int(meta.get("cached_tokens") or 0)
    return sample
