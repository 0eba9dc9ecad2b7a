"""The payload is looked at, logged and counted before and after it is sent."""

import json
import logging

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post

logger = logging.getLogger(__name__)


def size_of(payload):
    return len(payload["input_ids"]) if "input_ids" in payload else len(payload["text"])


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    payload = {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True}
    logger.info("sending %d tokens: %s", size_of(payload), json.dumps(payload)[:80])
    output = await post(url, payload)
    sample.metadata["size"] = size_of(payload)
    sample.metadata["asked"] = [payload.get("return_logprob"), payload.get("stream", False), "input_ids" in payload]
    sample.metadata["limit"] = payload["sampling_params"].get("max_new_tokens")
    sample.tokens = payload["input_ids"] + [p[1] for p in output["meta_info"]["output_token_logprobs"]]
    return sample
