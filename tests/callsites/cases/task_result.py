"""The request is a task that is awaited later, and read through its result."""

import asyncio

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = state.tokenizer.encode(sample.prompt)
    task = asyncio.create_task(
        post(url, {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True})
    )
    done, pending = await asyncio.wait({task}, timeout=5)
    assert not pending
    output = task.result()
    other = await task
    sample.response = output["text"]
    sample.response_length = len(other["meta_info"]["output_token_logprobs"])
    for finished in done:
        sample.metadata["kind"] = finished.result()["meta_info"]["finish_reason"]["type"]
    return sample
