"""Answers are logged, shown in f-strings, and dumped."""

import json
import logging

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post

logger = logging.getLogger(__name__)


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    payload = {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True}
    output = await post(f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate", payload)
    logger.debug("got %s from %s", output, payload)
    logger.info(f"{output['text']!r} ended with {output['meta_info']['finish_reason']['type']}")
    kept = json.loads(json.dumps(output))
    sample.response = kept["text"]
    sample.metadata["pairs"] = [[round(p[0], 4), p[1]] for p in kept["meta_info"]["output_token_logprobs"]]
    sample.metadata["line"] = f"{kept['meta_info']['prompt_tokens']}+{kept['meta_info']['completion_tokens']}"
    return sample
