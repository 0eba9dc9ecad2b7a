"""Several samples scored at once; answers kept on the sample and read later."""

import asyncio

import aiohttp


async def reward_func(args, sample, **kwargs):
    payload = {"sampling_params": {"temperature": 0.0, "max_new_tokens": 0}, "return_logprob": True, "logprob_start_len": 0}
    payload["input_ids"] = sample.tokens
    if kwargs.get("spaces") is False:
        payload["sampling_params"]["spaces_between_special_tokens"] = False
    session = aiohttp.ClientSession()
    async with session.post(args.rm_url, json=payload) as response:
        return await response.json()


def post_process(args, samples):
    out = []
    for s in samples:
        logprobs = [entry[0] for entry in s.reward["meta_info"]["input_token_logprobs"]][1:]
        out.append(logprobs[len(logprobs) - s.response_length :])
    return out


async def generate(args, sample, sampling_params):
    rewards = await asyncio.gather(*[reward_func(args, s, spaces=False) for s in [sample]])
    for s, r in zip([sample], rewards):
        s.reward = r
    (sample.teacher_log_probs,) = post_process(args, [sample])
    sample.reward = None
    return sample
