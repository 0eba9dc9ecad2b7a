"""One rollout fans out into several samples, gathered."""

import asyncio
import copy

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post
from slime.utils.types import Sample


async def one(args, sample, params, suffix):
    state = GenerateState(args)
    async with state.semaphore:
        prompt = state.tokenizer.encode(sample.prompt + suffix)
        url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
        output = await post(url, {"input_ids": prompt, "sampling_params": params, "return_logprob": True})
    sample.tokens = prompt
    pairs = output["meta_info"]["output_token_logprobs"]
    sample.append_response_tokens(
        args, tokens=[p[1] for p in pairs], log_probs=[p[0] for p in pairs], meta_info=output["meta_info"], text=output["text"]
    )
    return sample


async def generate(args, sample: Sample, sampling_params):
    siblings = [copy.deepcopy(sample) for _ in range(3)]
    done = await asyncio.gather(
        *(one(args, sibling, sampling_params.copy(), str(number)) for number, sibling in enumerate(siblings))
    )
    sample.metadata["responses"] = [sibling.response for sibling in done]
    sample.metadata["statuses"] = [sibling.status.value for sibling in done]
    sample.metadata["logps"] = [sibling.rollout_log_probs for sibling in done]
    return sample
