"""A stream tried again when it drops, from the beginning."""

import json

from slime.rollout.sglang_rollout import GenerateState
from slime.utils import http_utils


async def once(url, payload):
    last = None
    async with http_utils._http_client.stream("POST", url, json=payload) as response:
        async for line in response.aiter_lines():
            if line.startswith("data: {"):
                last = json.loads(line[6:])
    return last


async def generate(args, sample, sampling_params):
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    for attempt in range(3):
        try:
            last = await once(url, {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True, "stream": True})
        except ConnectionError:
            continue
        break
    sample.metadata["attempt"] = attempt
    sample.response = last["text"]
    sample.update_from_meta_info(args, last["meta_info"])
    return sample
