"""A text prompt, streamed."""

import json

from slime.rollout.sglang_rollout import GenerateState
from slime.utils import http_utils


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    endpoint = "http://" + args.sglang_router_ip + ":" + str(args.sglang_router_port) + "/generate"
    async with http_utils._http_client.stream("POST", endpoint, json={"text": sample.prompt, "sampling_params": sampling_params, "stream": True}) as response:
        response.raise_for_status()
        async for line in response.aiter_lines():
            if not line.strip() or "[DONE]" in line:
                continue
            chunk = json.loads(line.replace("data: ", "", 1))
            sample.response = chunk["text"]
            if state.aborted:
                sample.status = sample.Status.ABORTED
                return sample
    sample.status = {"length": sample.Status.TRUNCATED}.get(chunk["meta_info"]["finish_reason"]["type"], sample.Status.COMPLETED)
    return sample
