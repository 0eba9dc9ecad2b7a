"""Pairs by negative index, slices with steps, and del."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post

LOGPROB, TOKEN = 0, 1


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    out = await post(f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate", {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True})
    pairs = out["meta_info"]["output_token_logprobs"]
    sample.metadata["reversed"] = [p[-2] for p in pairs[::-1]]
    sample.metadata["first"] = pairs[0][-3]
    sample.metadata["by_name"] = [[p[LOGPROB], p[TOKEN]] for p in pairs[1:-1]]
    last = pairs.pop()
    sample.metadata["popped"] = [last[TOKEN], len(pairs)]
    del pairs[:1]
    sample.tokens = ids + [p[TOKEN] for p in pairs]
    sample.metadata["text_slot"] = [p[2] for p in pairs]
    return sample
