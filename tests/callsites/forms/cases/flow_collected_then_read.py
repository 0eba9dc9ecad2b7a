"""All chunks are kept, the last one counts."""

import json

from slime.rollout.sglang_rollout import GenerateState
from slime.utils import http_utils


async def generate(args, sample, sampling_params):
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    payload = {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True, "stream": True}
    async with http_utils._http_client.stream("POST", url, json=payload) as response:
        lines = [line async for line in response.aiter_lines() if line.startswith("data: {")]
    chunks = [json.loads(line.split("data: ", 1)[1]) for line in lines]
    final = chunks[-1]
    sample.response = final["text"]
    sample.metadata["growth"] = [c["meta_info"]["completion_tokens"] for c in chunks]
    sample.metadata["finishes"] = [(c["meta_info"]["finish_reason"] or {}).get("type") for c in chunks]
    sample.rollout_log_probs = [p[0] for p in final["meta_info"]["output_token_logprobs"]]
    return sample
