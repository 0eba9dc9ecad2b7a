"""Stream or not, by an option; both end in the same reader."""

import json

from slime.rollout.sglang_rollout import GenerateState
from slime.utils import http_utils


async def request(url, payload, stream):
    if not stream:
        return await http_utils.post(url, payload)
    last = None
    async with http_utils._http_client.stream("POST", url, json={**payload, "stream": True}) as response:
        response.raise_for_status()
        async for line in response.aiter_lines():
            if line.startswith("data:") and "[DONE]" not in line:
                last = json.loads(line[5:])
    return last


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = state.tokenizer.encode(sample.prompt, add_special_tokens=False)
    out = await request(url, {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True}, args.use_stream)
    meta = out["meta_info"]
    sample.tokens = ids + [x[1] for x in meta["output_token_logprobs"]]
    sample.rollout_log_probs = [x[0] for x in meta["output_token_logprobs"]]
    sample.response = out["text"]
    sample.update_from_meta_info(args, meta)
    return sample
