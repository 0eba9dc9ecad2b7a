"""The reward model takes text, not tokens: another service at an option's address."""

import aiohttp


async def generate(args, sample, sampling_params):
    payload = {"prompt": sample.prompt, "response": "r", "label": None}
    async with aiohttp.ClientSession() as session:
        async with session.post(args.rm_url, json=payload) as resp:
            result = await resp.json()
    sample.reward = result["meta_info"]["score"]
    sample.metadata["text"] = result["text"]
    return sample
