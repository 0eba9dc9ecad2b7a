"""One flag decides between a stream and a plain request; both give the same shape."""

import json

from slime.rollout.sglang_rollout import GenerateState
from slime.utils import http_utils


async def request(url, payload, streaming):
    if not streaming:
        return await http_utils.post(url, payload)
    answer = None
    async with http_utils._http_client.stream("POST", url, json=payload | {"stream": True}) as response:
        async for line in response.aiter_lines():
            if line.startswith("data:") and not line.endswith("[DONE]"):
                answer = json.loads(line[5:])
    return answer


async def generate(args, sample, sampling_params):
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    for streaming in (True, False):
        answer = await request(url, {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True}, streaming)
        meta = answer["meta_info"]
        sample.append_response_tokens(
            args,
            tokens=[p[1] for p in meta["output_token_logprobs"]],
            log_probs=[p[0] for p in meta["output_token_logprobs"]],
            meta_info=meta,
            text=answer["text"],
        )
    return sample
