"""Two teachers at addresses of options, their scores averaged."""

import asyncio

import aiohttp


async def score(session, url, tokens):
    payload = {"input_ids": tokens, "sampling_params": {"temperature": 0, "max_new_tokens": 0}, "return_logprob": True, "logprob_start_len": 0}
    async with session.post(url, json=payload) as resp:
        resp.raise_for_status()
        return (await resp.json())["meta_info"]["input_token_logprobs"]


async def generate(args, sample, sampling_params):
    async with aiohttp.ClientSession() as session:
        tables = await asyncio.gather(*(score(session, url, sample.tokens) for url in (args.rm_url, args.rm_url)))
    columns = [[row[0] for row in table[1:]] for table in tables]
    sample.teacher_log_probs = [sum(pair) / 2 for pair in zip(*columns, strict=True)][-sample.response_length :]
    return sample
