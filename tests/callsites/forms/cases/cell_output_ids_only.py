"""Only output_ids is read, and counted against the budget."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = GenerateState(args).tokenizer.encode(sample.prompt, add_special_tokens=False)
    budget = sampling_params["max_new_tokens"]
    context = list(ids)
    while budget > 0:
        out = await post(url, {"input_ids": context, "sampling_params": sampling_params | {"max_new_tokens": min(budget, 4)}})
        context.extend(out["output_ids"])
        budget -= out["meta_info"]["completion_tokens"]
        if out["meta_info"]["finish_reason"]["type"] != "length":
            break
    sample.tokens = context
    sample.response_length = len(context) - len(ids)
    return sample
