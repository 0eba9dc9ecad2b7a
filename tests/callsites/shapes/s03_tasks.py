"""The request runs as a task under a time limit."""

import asyncio

from slime.rollout.sglang_rollout import GenerateState
from slime.utils import http_utils


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}" + "/generate"
    request = dict(input_ids=state.tokenizer.encode(sample.prompt), sampling_params=sampling_params, return_logprob=True)
    task = asyncio.create_task(http_utils.post(url, request))
    reply = await asyncio.wait_for(task, 5)
    logps, tokens = zip(*[(lp, tok) for lp, tok, _ in reply["meta_info"]["output_token_logprobs"]])
    sample.tokens = list(request["input_ids"]) + list(tokens)
    sample.rollout_log_probs = list(logps)
    sample.response = reply["text"]
    return sample
