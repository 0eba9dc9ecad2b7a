"""Keys are walked in loops and copied by comprehension."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post

COUNTERS = ("prompt_tokens", "completion_tokens", "cached_tokens")


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = state.tokenizer.encode(sample.prompt, add_special_tokens=False)
    totals = dict.fromkeys(COUNTERS, 0)
    for _ in range(2):
        meta = (await post(url, {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True}))["meta_info"]
        for key in COUNTERS:
            totals[key] += meta.get(key, 0)
        ids = ids + [item[1] for item in meta["output_token_logprobs"]]
    sample.metadata |= totals
    sample.metadata["picked"] = {key: meta[key] for key in COUNTERS if key in meta}
    sample.tokens = ids
    return sample
