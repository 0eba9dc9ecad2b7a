"""Every chunk is put on the sample anew, with the checks that appending makes."""

import copy
import json

from slime.rollout.sglang_rollout import GenerateState
from slime.utils import http_utils
from slime.utils.types import Sample


async def generate(args, sample: Sample, sampling_params):
    state = GenerateState(args)
    ids = list(sample.tokens) or state.tokenizer.encode(sample.prompt, add_special_tokens=False)
    before = copy.deepcopy((sample.response, sample.response_length, sample.rollout_log_probs, sample.loss_mask))
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    payload = {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True, "stream": True}
    meta = {}
    async with http_utils._http_client.stream("POST", url, json=payload) as response:
        async for line in response.aiter_lines():
            data = line.removeprefix("data:").strip()
            if not data or data == "[DONE]":
                continue
            chunk = json.loads(data)
            meta = chunk.get("meta_info") or {}
            pairs = meta.get("output_token_logprobs") or []
            sample.tokens = list(ids)
            sample.response, sample.response_length, sample.rollout_log_probs, sample.loss_mask = copy.deepcopy(before)
            sample.append_response_tokens(
                args,
                tokens=[pair[1] for pair in pairs],
                log_probs=[pair[0] for pair in pairs],
                meta_info=meta,
                text=chunk["text"],
                update_terminal_info=bool(meta.get("finish_reason")),
            )
            if state.aborted:
                break
    if state.aborted and not meta.get("finish_reason"):
        sample.status = Sample.Status.ABORTED
    return sample
