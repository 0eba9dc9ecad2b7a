"""Routed experts given to the sample, and their shape computed."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    payload = {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True}
    if args.use_rollout_routing_replay:
        payload["return_routed_experts"] = True
    out = await post(url, payload)
    meta = out["meta_info"]
    sample.metadata["has"] = "routed_experts" in meta
    if meta.get("routed_experts") is not None:
        sample.metadata["count"] = len(__import__("base64").b64decode(meta["routed_experts"])) // 4
    sample.update_from_meta_info(args, meta)
    return sample
