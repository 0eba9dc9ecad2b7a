"""On-policy distillation: the answer travels in the reward, wrapped, and is unpacked by two helpers."""

import aiohttp

from slime.utils.types import Sample


def scoring_request(tokens, temperature=0):
    return {"input_ids": tokens, "sampling_params": {"temperature": temperature, "max_new_tokens": 0, "skip_special_tokens": False}, "return_logprob": True, "logprob_start_len": 0}


async def reward_func(args, sample, **kwargs):
    session_kwargs = {}
    async with aiohttp.ClientSession(**session_kwargs) as session:
        async with session.post(args.rm_url, json=scoring_request(sample.tokens)) as resp:
            resp.raise_for_status()
            return {"teacher": await resp.json(), "score": 1.0}


def input_logprobs(answer):
    return [entry[0] for entry in answer["meta_info"]["input_token_logprobs"][1:]]


async def generate(args, sample: Sample, sampling_params):
    sample.reward = await reward_func(args, sample)
    logps = input_logprobs(sample.reward["teacher"])
    sample.teacher_log_probs = logps[-sample.response_length :]
    sample.reward = sample.reward["score"]
    return sample
