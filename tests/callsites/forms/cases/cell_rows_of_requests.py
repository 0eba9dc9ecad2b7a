"""A table of requests, zipped with their answers."""

import asyncio

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    tok = GenerateState(args).tokenizer
    table = [
        {"name": name, "request": {"input_ids": tok.encode(sample.prompt + name), "sampling_params": {**sampling_params, "temperature": temp}, "return_logprob": True}}
        for name, temp in (("a", 0.5), ("b", 1.0))
    ]
    answers = await asyncio.gather(*map(lambda row: post(url, row["request"]), table))
    for row, answer in zip(table, answers, strict=True):
        row["answer"] = answer
    ranked = sorted(table, key=lambda row: row["answer"]["meta_info"]["completion_tokens"], reverse=True)
    sample.metadata["ranked"] = [[row["name"], row["answer"]["text"]] for row in ranked]
    sample.metadata["mean"] = [
        round(sum(lp for lp, *_ in row["answer"]["meta_info"]["output_token_logprobs"]) / len(row["answer"]["output_ids"]), 5) for row in table
    ]
    return sample
