"""A dropped stream is taken up by a plain request."""

import json

from slime.rollout.sglang_rollout import GenerateState
from slime.utils import http_utils


async def generate(args, sample, sampling_params):
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    payload = {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True, "stream": True}
    pairs, chunk = [], {}
    try:
        async with http_utils._http_client.stream("POST", url, json=payload) as response:
            async for line in response.aiter_lines():
                if not line.startswith("data: {"):
                    continue
                chunk = json.loads(line[6:])
                pairs = chunk["meta_info"]["output_token_logprobs"]
    except ConnectionError:
        payload.pop("stream")
        payload["input_ids"] = ids + [p[1] for p in pairs]
        chunk = await http_utils.post(url, payload)
        pairs = pairs + chunk["meta_info"]["output_token_logprobs"]
    sample.tokens = ids + [p[1] for p in pairs]
    sample.rollout_log_probs = [p[0] for p in pairs]
    sample.update_from_meta_info(args, chunk["meta_info"])
    return sample
