"""Everything has a default: the sender, the route, the reader."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


def tokens_of(answer, key="output_token_logprobs", column=1):
    return [row[column] for row in answer["meta_info"].get(key, [])]


async def call(args, ids, params, *, sender=post, route="/generate", logprobs=True, **extra):
    payload = {"input_ids": ids, "sampling_params": params, **extra}
    if logprobs:
        payload["return_logprob"] = logprobs
    return await sender(f"http://{args.sglang_router_ip}:{args.sglang_router_port}{route}", payload)


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    out = await call(args, ids, sampling_params)
    sample.tokens = ids + tokens_of(out)
    sample.rollout_log_probs = tokens_of(out, column=0)
    plain = await call(args, ids, sampling_params, logprobs=False)
    sample.metadata["plain"] = tokens_of(plain)
    sample.response = plain["text"]
    return sample
