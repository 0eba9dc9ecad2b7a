"""Tasks are made in a loop and read as they complete; a shared dict collects."""

import asyncio

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = state.tokenizer.encode(sample.prompt, add_special_tokens=False)
    tasks = [asyncio.create_task(post(url, {"input_ids": ids + [i], "sampling_params": sampling_params, "return_logprob": True})) for i in range(2)]
    results = {}
    for index, task in enumerate(tasks):
        results[index] = await task
    for index, output in results.items():
        sample.metadata[str(index)] = [output["text"], [t for _, t, _ in output["meta_info"]["output_token_logprobs"]]]
    longest = max(results.values(), key=lambda out: out["meta_info"]["completion_tokens"])
    sample.response = longest["text"]
    return sample
