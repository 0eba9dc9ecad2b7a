"""Payloads are made in one place and sent in another, through a list of pairs."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


def plan(args, tokenizer, prompts, params):
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    for prompt in prompts:
        yield url, {"input_ids": tokenizer.encode(prompt), "sampling_params": params, "return_logprob": True}


async def generate(args, sample, sampling_params):
    tokenizer = GenerateState(args).tokenizer
    jobs = list(plan(args, tokenizer, [sample.prompt, sample.prompt * 2], sampling_params))
    answers = {}
    for number, (url, payload) in enumerate(jobs):
        answers[number] = await post(url, payload)
    sample.metadata["texts"] = [answers[number]["text"] for number in sorted(answers)]
    sample.metadata["sizes"] = [len(payload["input_ids"]) for _, payload in jobs]
    return sample
