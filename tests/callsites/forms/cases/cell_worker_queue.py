"""Workers take payloads from a queue and put answers into another."""

import asyncio

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def worker(url, jobs, results):
    while True:
        number, payload = await jobs.get()
        if payload is None:
            break
        results.put_nowait((number, await post(url, payload)))


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    jobs, results = asyncio.Queue(), asyncio.Queue()
    for i in range(2):
        jobs.put_nowait((i, {"input_ids": ids + [i], "sampling_params": sampling_params, "return_logprob": True}))
    jobs.put_nowait((2, None))
    await worker(url, jobs, results)
    found = {}
    while not results.empty():
        number, answer = results.get_nowait()
        found[number] = [answer["text"], answer["meta_info"]["output_token_logprobs"][-1][1]]
    sample.metadata["found"] = [found[k] for k in sorted(found)]
    return sample
