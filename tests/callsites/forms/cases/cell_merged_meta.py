"""meta_info is copied, merged, written to, given away."""

import copy

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    total = {"completion_tokens": 0, "cached_tokens": 0}
    for _ in range(2):
        out = await post(url, {"input_ids": GenerateState(args).tokenizer.encode(sample.prompt), "sampling_params": sampling_params, "return_logprob": True})
        meta = copy.deepcopy(out["meta_info"])
        for key in total:
            total[key] += meta[key]
        meta["finish_reason"] = {"type": "stop"}
    meta = {**meta, **total}
    meta.pop("id", None)
    sample.update_from_meta_info(args, meta)
    sample.metadata["total"] = total
    sample.metadata["names"] = sorted(k for k in meta if k.endswith("_tokens"))
    return sample
