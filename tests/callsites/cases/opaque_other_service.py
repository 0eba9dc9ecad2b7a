"""A reward model that is no engine, its address an option too."""

import aiohttp

from slime.utils.http_utils import post
from slime.utils.types import Sample


async def generate(args, sample: Sample, sampling_params):
    question = {"prompt": sample.prompt, "response": "yes", "text": "why", "sampling_params": None}
    verdict = await post(args.rm_url, question)
    sample.reward = verdict["meta_info"]["score"]
    async with aiohttp.ClientSession() as session:
        async with session.post(args.rm_url, json={"text": verdict["text"], "return_logprob": True}) as resp:
            again = await resp.json()
    sample.metadata["again"] = [again["text"], again["meta_info"]["finish_reason"]]
    return sample
