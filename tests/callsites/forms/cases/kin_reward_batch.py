"""A generative reward model on the engine's router judges a group; verdicts come from its text."""

import asyncio

from slime.utils.http_utils import post
from slime.utils.types import Sample

JUDGE = "Q: {q}\nA: {a}\nGood? "


async def judge(args, sample: Sample):
    payload = {
        "text": JUDGE.format(q=sample.prompt, a=sample.response),
        "sampling_params": {"temperature": 0.0, "max_new_tokens": 4, "stop": ["\n"]},
        "return_logprob": False,
    }
    out = await post(f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate", payload)
    verdict = out["text"].strip().lower()
    return {"score": 1.0 if verdict.startswith("y") else 0.0, "text": verdict, "tokens": out["meta_info"]["completion_tokens"]}


async def generate(args, sample, sampling_params):
    results = await asyncio.gather(*[judge(args, s) for s in [sample, sample]])
    sample.reward = sum(r["score"] for r in results) / len(results)
    sample.metadata["verdicts"] = [r["text"] for r in results]
    sample.metadata["tokens"] = sum(r["tokens"] for r in results)
    return sample
