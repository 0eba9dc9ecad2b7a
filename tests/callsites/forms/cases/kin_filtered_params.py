"""Parameters that are None are left out."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post

ALLOWED = ("temperature", "top_p", "top_k", "max_new_tokens", "stop", "min_new_tokens", "repetition_penalty")


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    params = {k: v for k, v in sampling_params.items() if k in ALLOWED and v is not None}
    if "max_new_tokens" not in params:
        params["max_new_tokens"] = 6
    ids = state.tokenizer.encode(sample.prompt, add_special_tokens=False)
    out = await post(url, {"input_ids": ids, "sampling_params": params, "return_logprob": args.ci_test is False})
    sample.response = out["text"]
    sample.metadata["sent"] = params["max_new_tokens"]
    sample.update_from_meta_info(args, out["meta_info"])
    return sample
