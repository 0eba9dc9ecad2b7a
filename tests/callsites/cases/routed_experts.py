"""The experts that routed the tokens come as bytes of integers."""

import base64
import struct

import numpy as np

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    payload = {"input_ids": state.tokenizer.encode(sample.prompt), "sampling_params": sampling_params, "return_logprob": True}
    if args.use_rollout_routing_replay:
        payload["return_routed_experts"] = True
    output = await post(url, payload)
    meta = output["meta_info"]
    sample.tokens = payload["input_ids"] + [p[1] for p in meta["output_token_logprobs"]]
    if "routed_experts" in meta:
        raw = base64.b64decode(meta["routed_experts"].encode("ascii"))
        flat = np.frombuffer(raw, dtype=np.int32)
        sample.rollout_routed_experts = flat.reshape(-1, args.num_layers, args.moe_router_topk).tolist()
        sample.metadata["again"] = list(struct.unpack(f"<{len(raw) // 4}i", raw)) == flat.tolist()
    return sample
