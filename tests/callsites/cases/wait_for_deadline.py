"""The request has a deadline around it."""

import asyncio

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post
from slime.utils.types import Sample


async def generate(args, sample: Sample, sampling_params):
    state = GenerateState(args)
    ids = state.tokenizer.encode(sample.prompt, add_special_tokens=False)
    request = {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True}
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    try:
        reply = await asyncio.wait_for(post(url, request), timeout=getattr(args, "deadline", 5))
    except asyncio.TimeoutError:
        sample.status = Sample.Status.FAILED
        return sample
    info = reply["meta_info"]
    sample.append_response_tokens(
        args,
        tokens=[t for _, t, *_ in info["output_token_logprobs"]],
        log_probs=[lp for lp, *_ in info["output_token_logprobs"]],
        meta_info=info,
        text=reply["text"],
    )
    return sample
