"""A stream first; when it ends without a finish reason the rest comes in one piece."""

import json

from slime.rollout.sglang_rollout import GenerateState
from slime.utils import http_utils
from slime.utils.types import Sample


async def generate(args, sample: Sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    payload = {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True, "stream": True}
    chunk = {}
    try:
        async with http_utils._http_client.stream("POST", url, json=payload) as response:
            async for line in response.aiter_lines():
                if line.startswith("data:") and "[DONE]" not in line:
                    chunk = json.loads(line[5:])
    except ConnectionError:
        pass
    meta = chunk.get("meta_info") or {}
    tokens = [p[1] for p in meta.get("output_token_logprobs", [])]
    text = chunk.get("text", "")
    if not meta.get("finish_reason"):
        payload["stream"] = False
        payload["input_ids"] = ids + tokens
        output = await http_utils.post(url, payload)
        tokens += [p[1] for p in output["meta_info"]["output_token_logprobs"]]
        text, meta = text + output["text"], output["meta_info"]
    sample.tokens, sample.response, sample.response_length = ids + tokens, text, len(tokens)
    sample.update_from_meta_info(args, meta)
    return sample
