"""The address is an option that may or may not name the route."""

import aiohttp

from slime.rollout.sglang_rollout import GenerateState


async def generate(args, sample, sampling_params):
    url = args.teacher
    if not url.endswith("/generate"):
        url = url.rstrip("/") + "/generate"
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    request = {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True, "stream": False}
    async with aiohttp.ClientSession() as client, client.post(url, json=request) as r:
        body = await r.json()
    sample.response = body["text"]
    return sample
