"""A function calls itself with what it got."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def turn(url, ids, params, depth, send=post):
    out = await send(url, {"input_ids": ids, "sampling_params": params, "return_logprob": True})
    tokens = [pair[1] for pair in out["meta_info"]["output_token_logprobs"]]
    if depth == 0 or out["meta_info"]["finish_reason"]["type"] == "length":
        return [out], ids + tokens
    later, all_ids = await turn(url, ids + tokens, params, depth - 1)
    return [out, *later], all_ids


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    outputs, sample.tokens = await turn(url, state.tokenizer.encode(sample.prompt), sampling_params, 2)
    sample.response = "".join(output["text"] for output in outputs)
    sample.metadata["kinds"] = [output["meta_info"]["finish_reason"]["type"] for output in outputs]
    return sample
