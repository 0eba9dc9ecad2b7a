"""Several samples of a group with copies of the sampling parameters."""

import asyncio
import copy

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post
from slime.utils.types import Sample


async def one(args, state, sample: Sample, sampling_params):
    async with state.semaphore:
        if state.aborted:
            sample.status = Sample.Status.ABORTED
            return sample
        payload = {"input_ids": state.tokenizer.encode(sample.prompt), "sampling_params": sampling_params, "return_logprob": True}
        out = await post(f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate", payload)
    sample.append_response_tokens(
        args,
        tokens=[t for _, t, _ in out["meta_info"]["output_token_logprobs"]],
        log_probs=[lp for lp, *_ in out["meta_info"]["output_token_logprobs"]],
        meta_info=out["meta_info"],
        text=out["text"],
    )
    return sample


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    group = [copy.deepcopy(sample) for _ in range(3)]
    tasks = []
    for index, member in enumerate(group):
        params = sampling_params.copy()
        params["sampling_seed"] = 10 + index
        tasks.append(asyncio.create_task(one(args, state, member, params)))
    group = await asyncio.gather(*tasks)
    best = max(group, key=lambda s: sum(s.rollout_log_probs))
    best.metadata["lengths"] = [s.response_length for s in group]
    return best
