"""asyncio.timeout around the request, an error turned into a status."""

import asyncio

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post
from slime.utils.types import Sample


async def generate(args, sample: Sample, sampling_params):
    tokenizer = GenerateState(args).tokenizer
    payload = {
        "input_ids": tokenizer.encode(sample.prompt),
        "sampling_params": sampling_params,
        "return_logprob": True,
    }
    try:
        async with asyncio.timeout(10):
            output = await post(f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate", payload)
    except (TimeoutError, OSError):
        sample.status = Sample.Status.FAILED
        return sample
    else:
        sample.update_from_meta_info(args, output["meta_info"])
        sample.response = output["text"]
    finally:
        sample.metadata["asked"] = True
    return sample
