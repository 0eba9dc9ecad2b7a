"""Routed experts are decoded by the caller as upstream does."""

import base64

import numpy as np

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = state.tokenizer.encode(sample.prompt, add_special_tokens=False)
    payload = {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True}
    if args.use_rollout_routing_replay:
        payload["return_routed_experts"] = True
    output = await post(url, payload)
    sample.tokens = ids + [item[1] for item in output["meta_info"]["output_token_logprobs"]]
    if "routed_experts" in output["meta_info"]:
        experts = np.frombuffer(base64.b64decode(output["meta_info"]["routed_experts"].encode("ascii")), dtype=np.int32)
        sample.rollout_routed_experts = experts.reshape(-1, args.num_layers, args.moe_router_topk).flatten().tolist()
    sample.response = output["text"]
    return sample
