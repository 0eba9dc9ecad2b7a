"""Pairs by position, in slices, from the end, reversed."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = state.tokenizer.encode(sample.prompt)
    out = await post(url, {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True})
    pairs = out["meta_info"]["output_token_logprobs"]
    head, last = pairs[:2], pairs[-1]
    sample.metadata["head"] = [pair[1] for pair in head]
    sample.metadata["last"] = [last[1], last[0], last[2]]
    sample.metadata["first"] = out["meta_info"]["output_token_logprobs"][0][1]
    sample.metadata["backwards"] = [p[1] for p in reversed(pairs)]
    sample.metadata["every_other"] = [p[0] for p in pairs[::2]]
    sample.metadata["mean"] = round(sum(p[0] for p in pairs) / max(len(pairs), 1), 6)
    kept = pairs[: sampling_params["max_new_tokens"] // 8]
    sample.tokens = ids + [p[1] for p in kept]
    return sample
