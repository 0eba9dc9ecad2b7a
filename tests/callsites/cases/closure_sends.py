"""A function inside the rollout function sends, with the URL and the parameters from outside."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    used = []

    async def turn(ids, limit=None):
        params = sampling_params if limit is None else {**sampling_params, "max_new_tokens": limit}
        out = await post(url, {"input_ids": ids, "sampling_params": params, "return_logprob": True})
        used.append(out["meta_info"]["completion_tokens"])
        return out

    ids = state.tokenizer.encode(sample.prompt)
    first = await turn(ids)
    ids = ids + [token for _, token, _ in first["meta_info"]["output_token_logprobs"]]
    second = await turn(ids, limit=3)
    sample.tokens = ids + [token for _, token, _ in second["meta_info"]["output_token_logprobs"]]
    sample.response = first["text"] + second["text"]
    sample.metadata["used"] = used
    sample.metadata["versions"] = [answer["meta_info"].get("weight_version") for answer in (first, second)]
    return sample
