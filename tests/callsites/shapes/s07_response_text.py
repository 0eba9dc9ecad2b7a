"""aiohttp: the answer is read as text and decoded by hand, in a helper."""

import json

import aiohttp

from slime.rollout.sglang_rollout import GenerateState


async def decode(resp):
    raw = await resp.text()
    return json.loads(raw)


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    async with aiohttp.ClientSession() as session:
        async with session.post(
            f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate",
            json={"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True},
        ) as resp:
            resp.raise_for_status()
            answer = await decode(resp)
    sample.response = answer["text"]
    sample.rollout_log_probs = [x[0] for x in answer["meta_info"].get("output_token_logprobs") or []]
    return sample
