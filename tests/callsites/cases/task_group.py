"""Requests in a task group, and answers through a queue."""

import asyncio

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def producer(queue, url, body, times):
    for _ in range(times):
        await queue.put(await post(url, body))
    await queue.put(None)


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    body = {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True}
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(post(url, body)) for _ in range(2)]
    texts = [task.result()["text"] for task in tasks]
    queue = asyncio.Queue()
    feeding = asyncio.create_task(producer(queue, url, body, 2))
    while (answer := await queue.get()) is not None:
        texts.append(answer["text"] + "/" + answer["meta_info"]["finish_reason"]["type"])
    await feeding
    shielded = await asyncio.shield(post(url, body))
    async with asyncio.timeout(5):
        texts.append((await post(url, body))["text"])
    sample.metadata["texts"] = texts
    sample.metadata["first"] = shielded["meta_info"]["output_token_logprobs"][0][1]
    return sample
