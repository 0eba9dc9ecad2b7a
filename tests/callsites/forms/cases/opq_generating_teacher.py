"""A generating model at an option's address, by the caller's own client, with a header."""

import aiohttp

from slime.rollout.sglang_rollout import GenerateState


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    body = {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True}
    headers = {"Authorization": "Bearer x"}
    async with aiohttp.ClientSession() as session:
        async with session.post(args.rm_url, json=body, headers=headers) as resp:
            data = await resp.json()
    sample.response = data["text"]
    sample.metadata["pairs"] = [p[:2] for p in data["meta_info"]["output_token_logprobs"]]
    sample.update_from_meta_info(args, data["meta_info"])
    return sample
