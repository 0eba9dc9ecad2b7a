"""A stream is cut when a marker shows, and the request aborted by its id."""

import json
import uuid

from slime.rollout.sglang_rollout import GenerateState
from slime.utils import http_utils
from slime.utils.types import Sample


async def generate(args, sample: Sample, sampling_params):
    state = GenerateState(args)
    base = f"http://{args.sglang_router_ip}:{args.sglang_router_port}"
    rid = uuid.uuid4().hex
    payload = {
        "rid": rid,
        "input_ids": state.tokenizer.encode(sample.prompt, add_special_tokens=False),
        "sampling_params": sampling_params,
        "return_logprob": True,
        "stream": True,
    }
    last = {}
    async with http_utils._http_client.stream("POST", f"{base}/generate", json=payload) as response:
        response.raise_for_status()
        async for line in response.aiter_lines():
            if not line.startswith("data:") or line.endswith("[DONE]"):
                continue
            last = json.loads(line[len("data:") :])
            if "!" in last["text"]:
                await http_utils.post(f"{base}/abort_request", {"rid": rid})
                break
    pairs = last["meta_info"]["output_token_logprobs"]
    sample.response = last["text"].split("!")[0]
    sample.tokens = payload["input_ids"] + [p[1] for p in pairs]
    sample.rollout_log_probs = [p[0] for p in pairs]
    sample.metadata["finished"] = last["meta_info"].get("finish_reason") is not None
    return sample
