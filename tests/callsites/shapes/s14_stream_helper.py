"""A helper gets the open response and decodes its lines with another helper."""

import json

from slime.rollout.sglang_rollout import GenerateState
from slime.utils import http_utils


def parse(line):
    if not line.startswith("data:"):
        return None
    body = line.removeprefix("data:").strip()
    return None if body == "[DONE]" else json.loads(body)


async def consume(response):
    text, pairs = "", []
    async for line in response.aiter_lines():
        event = parse(line)
        if event is None:
            continue
        text = event["text"]
        pairs = event["meta_info"].get("output_token_logprobs", pairs)
    return text, pairs


async def generate(args, sample, sampling_params):
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    payload = {"input_ids": GenerateState(args).tokenizer.encode(sample.prompt), "sampling_params": sampling_params}
    payload.update({"return_logprob": True, "stream": True})
    async with http_utils._http_client.stream("POST", url, json=payload, headers=None) as response:
        sample.response, pairs = await consume(response)
    sample.rollout_log_probs = [pair[0] for pair in pairs]
    return sample
