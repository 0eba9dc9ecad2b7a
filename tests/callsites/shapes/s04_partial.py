"""functools.partial binds the address and the number of tries."""

from functools import partial

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    send = partial(post, f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate", max_retries=3)
    params = {**sampling_params, "stop": ["!"], "no_stop_trim": True, "min_new_tokens": 1}
    out = await send({"input_ids": state.tokenizer.encode(sample.prompt), "sampling_params": params, "return_logprob": True})
    match out["meta_info"]:
        case {"finish_reason": {"type": kind}, "output_token_logprobs": pairs}:
            sample.metadata["kind"] = kind
            sample.response_length = len(pairs)
    sample.response = out["text"]
    return sample
