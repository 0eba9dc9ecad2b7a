"""A text prompt, streamed."""

import json

from slime.rollout.sglang_rollout import GenerateState
from slime.utils import http_utils


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    payload = {"text": sample.prompt, "sampling_params": sampling_params, "stream": True}
    pieces = []
    async with http_utils._http_client.stream("POST", url, json=payload) as response:
        async for line in response.aiter_lines():
            if not line.startswith("data:") or line.strip() == "data: [DONE]":
                continue
            pieces.append(json.loads(line[5:])["text"])
    sample.response = pieces[-1]
    sample.metadata["grows"] = all(b.startswith(a) for a, b in zip(pieces, pieces[1:]))
    sample.tokens = state.tokenizer.encode(sample.prompt + sample.response)
    return sample
