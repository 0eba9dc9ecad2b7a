"""A client of the caller's own; the answer is text that is parsed later, in another function."""

import json

import aiohttp

from slime.rollout.sglang_rollout import GenerateState


async def fetch(url, payload):
    async with aiohttp.ClientSession() as session:
        async with session.post(url, json=payload) as response:
            return response.status, await response.text()


async def generate(args, sample, sampling_params):
    tokenizer = GenerateState(args).tokenizer
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    status, body = await fetch(
        url, {"input_ids": tokenizer.encode(sample.prompt), "sampling_params": sampling_params, "return_logprob": True}
    )
    output = json.loads(body) if status == 200 else {}
    sample.response = output["text"]
    sample.rollout_log_probs = [item[0] for item in output["meta_info"]["output_token_logprobs"]]
    return sample
