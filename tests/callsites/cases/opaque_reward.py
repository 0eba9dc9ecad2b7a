"""A reward model that is an engine, its address an option; the payload comes from a helper."""

import aiohttp

from slime.utils.types import Sample


def scoring_request(tokens, temperature=0.0):
    return {
        "input_ids": tokens,
        "sampling_params": {"temperature": temperature, "max_new_tokens": 0, "skip_special_tokens": False},
        "return_logprob": True,
        "logprob_start_len": 0,
    }


async def reward_func(args, sample, **kwargs):
    async with aiohttp.ClientSession() as session, session.post(args.rm_url, json=scoring_request(sample.tokens)) as resp:
        resp.raise_for_status()
        answer = await resp.json()
    logps = [pair[0] for pair in answer["meta_info"]["input_token_logprobs"] if pair[0] is not None]
    return round(sum(logps[-sample.response_length :]) / sample.response_length, 5)


async def generate(args, sample: Sample, sampling_params):
    sample.reward = await reward_func(args, sample)
    return sample
