"""Scoring over aiohttp with the JSON decoded by hand, retries, and a status check."""

import asyncio
import json

import aiohttp

from slime.utils.types import Sample


async def ask_teacher(args, tokens, attempts=2):
    body = {"input_ids": tokens, "sampling_params": {"max_new_tokens": 0, "temperature": 0}, "return_logprob": True, "logprob_start_len": 0}
    for attempt in range(attempts):
        try:
            async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=5)) as session, session.post(args.rm_url, json=body) as resp:
                if resp.status != 200:
                    raise aiohttp.ClientError(resp.status)
                return json.loads(await resp.text())
        except aiohttp.ClientError:
            if attempt == attempts - 1:
                raise
            await asyncio.sleep(0)


async def generate(args, sample: Sample, sampling_params):
    answer = await ask_teacher(args, sample.tokens)
    rows = answer["meta_info"]["input_token_logprobs"]
    sample.teacher_log_probs = [lp for lp, *_ in rows[1:]][-sample.response_length:]
    sample.metadata["ids"] = [tok for _, tok, _ in rows]
    return sample
