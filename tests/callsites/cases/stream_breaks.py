"""The connection breaks in mid-stream; what arrived before is kept."""

import json

from slime.rollout.sglang_rollout import GenerateState
from slime.utils import http_utils
from slime.utils.types import Sample


async def generate(args, sample: Sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    payload = {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True, "stream": True}
    meta = {}
    try:
        async with http_utils._http_client.stream("POST", url, json=payload) as response:
            async for line in response.aiter_lines():
                if line.startswith("data:") and "[DONE]" not in line:
                    chunk = json.loads(line[5:])
                    meta = chunk["meta_info"]
                    sample.response = chunk["text"]
                    sample.tokens = ids + [p[1] for p in meta["output_token_logprobs"]]
    except ConnectionError:
        sample.status = Sample.Status.ABORTED
    else:
        sample.update_from_meta_info(args, meta)
    sample.metadata["finished"] = bool(meta.get("finish_reason"))
    return sample
