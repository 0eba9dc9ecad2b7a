"""A stream with a callback for each new piece, and a plan for what is cut off."""

import json

from slime.rollout.sglang_rollout import GenerateState
from slime.utils import http_utils


async def stream(url, payload, on_chunk, should_stop):
    async with http_utils._http_client.stream("POST", url, json=payload) as r:
        async for line in r.aiter_lines():
            if line.startswith("data:") and not line.endswith("[DONE]"):
                chunk = json.loads(line.removeprefix("data:"))
                on_chunk(chunk)
                if should_stop(chunk):
                    return


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    chunks = []

    def keep(chunk):
        chunks.append(chunk)
        sample.metadata["n"] = chunk["meta_info"]["completion_tokens"]

    ids = state.tokenizer.encode(sample.prompt, add_special_tokens=False)
    body = {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True, "stream": True}
    await stream(url, body, keep, lambda chunk: state.aborted or len(chunk["meta_info"]["output_token_logprobs"]) >= 6)
    last = chunks[-1]
    sample.tokens = ids + [x[1] for x in last["meta_info"]["output_token_logprobs"]]
    sample.response = last["text"]
    return sample
