"""Lines are logged and counted beside being decoded."""

import json
import logging

from slime.rollout.sglang_rollout import GenerateState
from slime.utils import http_utils

log = logging.getLogger(__name__)
seen = []


async def generate(args, sample, sampling_params):
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    payload = {"input_ids": GenerateState(args).tokenizer.encode(sample.prompt), "sampling_params": sampling_params, "return_logprob": True, "stream": True}
    async with http_utils._http_client.stream("POST", url, json=payload) as response:
        async for line in response.aiter_lines():
            log.debug("line %r", line)
            if not line or line.startswith(":") or line == "data: [DONE]":
                continue
            seen.append(line)
            chunk = json.loads(line[len("data: ") :])
            sample.response = chunk["text"]
    again = json.loads(seen[-1].split(" ", 1)[1])
    sample.metadata["same"] = again["text"] == sample.response
    sample.update_from_meta_info(args, chunk["meta_info"])
    return sample
