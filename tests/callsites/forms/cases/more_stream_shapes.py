"""aclosing, a sentinel loop, a regular expression on the lines."""

import contextlib
import json
import re

from slime.rollout.sglang_rollout import GenerateState
from slime.utils import http_utils

EVENT = re.compile(r"^data:\s*(\{.*\})\s*$")


async def generate(args, sample, sampling_params):
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    payload = {"input_ids": GenerateState(args).tokenizer.encode(sample.prompt), "sampling_params": sampling_params, "return_logprob": True, "stream": True}
    async with http_utils._http_client.stream("POST", url, json=payload) as response:
        async with contextlib.aclosing(response.aiter_lines()) as lines:
            async for line in lines:
                if (found := EVENT.match(line)) is None:
                    continue
                event = json.loads(found.group(1))
                sample.response = event["text"]
                sample.metadata["n"] = len(event["meta_info"]["output_token_logprobs"])
    sample.update_from_meta_info(args, event["meta_info"])
    return sample
