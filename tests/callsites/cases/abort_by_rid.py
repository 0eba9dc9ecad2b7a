"""A request has an id of the caller's, and is aborted by it when the rollout is."""

import asyncio

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post
from slime.utils.types import Sample


async def generate(args, sample: Sample, sampling_params):
    state = GenerateState(args)
    base = f"http://{args.sglang_router_ip}:{args.sglang_router_port}"
    rid = f"sample-{sample.index}"
    payload = {
        "input_ids": state.tokenizer.encode(sample.prompt),
        "sampling_params": sampling_params,
        "return_logprob": True,
        "rid": rid,
    }
    request = asyncio.ensure_future(post(f"{base}/generate", payload))
    output = await request
    if output["meta_info"]["finish_reason"]["type"] == "length":
        await post(f"{base}/abort_request", {"rid": rid})
        sample.status = Sample.Status.ABORTED
    sample.metadata["rid"] = payload["rid"]
    sample.response = output["text"]
    return sample
