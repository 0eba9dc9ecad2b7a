"""A stream that is broken off, an abort by id, and a second request from what there is."""

import json

from slime.rollout.sglang_rollout import GenerateState
from slime.utils import http_utils
from slime.utils.http_utils import post
from slime.utils.types import Sample


async def run_until(url, payload, limit):
    last = None
    async with http_utils._http_client.stream("POST", url, json=payload) as response:
        async for raw in response.aiter_lines():
            if not raw.startswith("data:"):
                continue
            data = raw[5:].strip()
            if data == "[DONE]":
                break
            last = json.loads(data)
            if limit and last["meta_info"]["completion_tokens"] >= limit:
                break
    return last


async def generate(args, sample: Sample, sampling_params):
    base = f"http://{args.sglang_router_ip}:{args.sglang_router_port}"
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    payload = {"rid": "first", "input_ids": ids, "sampling_params": sampling_params, "return_logprob": True, "stream": True}
    part = await run_until(f"{base}/generate", payload, 4)
    tokens = [p[1] for p in part["meta_info"]["output_token_logprobs"]]
    logps = [p[0] for p in part["meta_info"]["output_token_logprobs"]]
    if part["meta_info"]["finish_reason"] is None:
        await post(f"{base}/abort_request", {"rid": payload["rid"]})
        again = dict(payload, input_ids=ids + tokens, rid="second")
        again["sampling_params"] = {**sampling_params, "max_new_tokens": sampling_params["max_new_tokens"] - len(tokens)}
        rest = await run_until(f"{base}/generate", again, None)
        tokens += [p[1] for p in rest["meta_info"]["output_token_logprobs"]]
        logps += [p[0] for p in rest["meta_info"]["output_token_logprobs"]]
        part = rest
    sample.tokens, sample.rollout_log_probs = ids + tokens, logps
    sample.update_from_meta_info(args, part["meta_info"])
    return sample
