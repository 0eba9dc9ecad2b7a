"""Answers come out of an asynchronous generator."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def answers(args, ids, params, times):
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    for _ in range(times):
        output = await post(url, {"input_ids": ids, "sampling_params": params, "return_logprob": True})
        ids = ids + [p[1] for p in output["meta_info"]["output_token_logprobs"]]
        yield output, ids


async def generate(args, sample, sampling_params):
    prompt = GenerateState(args).tokenizer.encode(sample.prompt)
    async for output, ids in answers(args, prompt, sampling_params, 3):
        sample.response += output["text"]
        sample.tokens = ids
        if output["meta_info"]["finish_reason"]["type"] == "length":
            break
    texts = [output["text"] async for output, _ in answers(args, prompt, sampling_params, 1)]
    sample.metadata["texts"] = texts
    return sample
