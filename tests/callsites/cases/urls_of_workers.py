"""Requests go to the workers themselves, one after the other."""

import random

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import get, post


async def generate(args, sample, sampling_params):
    body = {"input_ids": GenerateState(args).tokenizer.encode(sample.prompt), "sampling_params": sampling_params}
    listing = await get(f"http://{args.sglang_router_ip}:{args.sglang_router_port}/workers")
    urls = [f"{worker['url']}/generate" for worker in listing["workers"]]
    texts = []
    for url in urls:
        texts.append((await post(url, body))["text"])
    chosen = random.Random(0).choice(urls)
    texts.append((await post(chosen, body))["text"])
    sample.metadata["texts"] = texts
    sample.metadata["workers"] = len(urls)
    return sample
