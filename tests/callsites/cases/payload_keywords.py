"""The request's fields travel as keyword arguments of a helper."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def call_engine(args, ids, **fields):
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    return await post(url, {"input_ids": ids, **fields})


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    out = await call_engine(args, ids, sampling_params=sampling_params, return_logprob=True)
    bare = await call_engine(args, ids, sampling_params={"max_new_tokens": 1, "temperature": 0.0})
    sample.tokens = ids + [p[1] for p in out["meta_info"]["output_token_logprobs"]]
    sample.metadata["logprobs"] = [
        "output_token_logprobs" in out["meta_info"],
        "output_token_logprobs" in bare["meta_info"],
    ]
    return sample
