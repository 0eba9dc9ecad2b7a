"""A stream that ends inside a character, or is dropped."""

import json

from slime.rollout.sglang_rollout import GenerateState
from slime.utils import http_utils


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    payload = {"input_ids": state.tokenizer.encode(sample.prompt), "sampling_params": sampling_params, "return_logprob": True, "stream": True}
    client = http_utils._http_client
    meta = {}
    try:
        async with client.stream("POST", url, json=payload) as response:
            async for line in response.aiter_lines():
                if not line.startswith("data: {"):
                    continue
                event = json.loads(line[6:])
                meta = event["meta_info"]
                sample.response = event["text"]
                sample.tokens = event["output_ids"]
                if state.aborted:
                    break
    except ConnectionError:
        sample.metadata["dropped"] = True
    sample.metadata["used"] = [meta.get("prompt_tokens"), meta.get("completion_tokens")]
    return sample
