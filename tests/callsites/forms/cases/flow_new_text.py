"""What is new is sliced off the cumulative text and the cumulative pairs; callbacks get it."""

import json

from slime.rollout.sglang_rollout import GenerateState
from slime.utils import http_utils


async def stream_deltas(url, payload, on_delta):
    prev_text, prev_len, info = "", 0, {}
    async with http_utils._http_client.stream("POST", url, json=payload) as response:
        response.raise_for_status()
        async for line in response.aiter_lines():
            if not line.startswith("data: ") or line.endswith("[DONE]"):
                continue
            data = json.loads(line[6:])
            text, info = data["text"], data["meta_info"]
            pairs = info["output_token_logprobs"]
            new = text[len(prev_text):]
            on_delta(new, pairs[prev_len:])
            prev_text, prev_len = text, len(pairs)
    return prev_text, info


async def generate(args, sample, sampling_params):
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    seen = []
    tokens = []

    def on_delta(new, pairs):
        seen.append(new)
        tokens.extend(token for _, token, _ in pairs)

    text, info = await stream_deltas(url, {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True, "stream": True}, on_delta)
    sample.response = "".join(seen)
    sample.metadata["same"] = text == sample.response
    sample.metadata["steps"] = len(seen)
    sample.tokens = ids + tokens
    sample.update_from_meta_info(args, info)
    return sample
