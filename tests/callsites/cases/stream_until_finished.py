"""The loop ends with the chunk that has a finish reason."""

import json

from slime.rollout.sglang_rollout import GenerateState
from slime.utils import http_utils


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    payload = {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True}
    payload["stream"] = True
    chunks = 0
    async with http_utils._http_client.stream("POST", url, json=payload, headers={}) as response:
        async for line in response.aiter_lines():
            if not line.strip():
                continue
            chunk = json.loads(line.split(":", 1)[1])
            chunks += 1
            if (chunk["meta_info"].get("finish_reason") or {}).get("type") in ("stop", "length", "abort"):
                sample.metadata["kind"] = chunk["meta_info"]["finish_reason"]["type"]
                sample.response = chunk["text"]
                sample.response_length = chunk["meta_info"]["completion_tokens"]
                break
    sample.metadata["chunks"] = chunks
    return sample
