"""A generate function that reads the answer as a stream.

What has arrived is on the sample at once, so an abort in the middle of an answer loses nothing and needs no answer to
``/abort_request``. Use it for the single request, with the rollout loop as it is:

    --custom-generate-function-path slime.rollout.sglang_streaming_rollout.generate_streaming

SGLang's chunks are cumulative: each one has the whole answer so far.
"""

import json
import logging
from argparse import Namespace
from typing import Any

from slime.rollout.sglang_rollout import GenerateState, _prepare_prompt_ids
from slime.utils import http_utils
from slime.utils.trace_utils import build_sglang_meta_trace_attrs, trace_span
from slime.utils.types import Sample

__all__ = ["generate_streaming"]

logger = logging.getLogger(__name__)


async def generate_streaming(args: Namespace, sample: Sample, sampling_params: dict[str, Any]) -> Sample:
    """Like :func:`slime.rollout.sglang_rollout.generate`, for text, chunk by chunk."""
    assert sample.status in (Sample.Status.PENDING, Sample.Status.ABORTED), f"cannot go on from {sample.status}"
    assert not sample.multimodal_inputs, "the streaming rollout takes text alone"

    budget = sampling_params["max_new_tokens"] - sample.response_length
    if budget <= 0:
        sample.status = Sample.Status.TRUNCATED
        return sample

    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    prompt_ids = _prepare_prompt_ids(sample, state.tokenizer, state.processor)
    payload: dict[str, Any] = {
        "input_ids": prompt_ids,
        "sampling_params": {**sampling_params, "max_new_tokens": budget},
        "return_logprob": True,
        "stream": True,
    }
    headers = None
    if sample.session_id and args.router_policy == "consistent_hashing":
        headers = {"X-SMG-Routing-Key": sample.session_id}

    # What the sample had before this request; each chunk is put behind it.
    old_tokens = list(sample.tokens or prompt_ids)
    old_text, old_length = sample.response, sample.response_length
    old_log_probs = list(sample.rollout_log_probs or [])
    old_mask = sample.loss_mask

    meta: dict[str, Any] = {}
    tokens: list[int] = []
    log_probs: list[float] = []
    text = ""

    client = http_utils._http_client
    with trace_span(sample, "sglang_generate_stream", attrs={"max_new_tokens": budget}) as span:
        async with client.stream("POST", url, json=payload, headers=headers) as response:
            response.raise_for_status()
            async for line in response.aiter_lines():
                if not line.startswith("data:"):
                    continue
                data = line[len("data:") :].strip()
                if data == "[DONE]":
                    break
                try:
                    chunk = json.loads(data)
                except json.JSONDecodeError:
                    logger.warning("sglang sent a chunk that is no JSON: %r", data[:80])
                    continue

                meta = chunk.get("meta_info") or {}
                text = chunk.get("text", text)
                if "output_token_logprobs" in meta:
                    tokens = [item[1] for item in meta["output_token_logprobs"]]
                    log_probs = [item[0] for item in meta["output_token_logprobs"]]

                sample.tokens = old_tokens + tokens
                sample.response = old_text + text
                sample.response_length = old_length + len(tokens)
                sample.rollout_log_probs = old_log_probs + log_probs
                if old_mask is not None:
                    sample.loss_mask = old_mask + [1] * len(tokens)
                if state.aborted:
                    break

        if meta.get("finish_reason"):
            span.update(build_sglang_meta_trace_attrs(meta))

    if meta.get("finish_reason"):
        sample.update_from_meta_info(args, meta)
    else:
        sample.status = Sample.Status.ABORTED
    return sample
