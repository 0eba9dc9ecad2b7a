"""Routed experts are decoded by hand."""

import base64
import struct

import numpy as np
from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    payload = {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True, "return_routed_experts": True}
    output = await post(f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate", payload)
    packed = output["meta_info"]["routed_experts"]
    flat = np.frombuffer(base64.b64decode(packed.encode("ascii")), dtype=np.int32)
    sample.rollout_routed_experts = flat.reshape(-1, args.num_layers, args.moe_router_topk).flatten().tolist()
    raw = base64.b64decode(packed)
    sample.metadata["unpacked"] = list(struct.unpack(f"<{len(raw) // 4}i", raw))
    return sample
