"""Generate with a stream, so that an abort in the middle of an answer keeps what has arrived.

vLLM's chunks are deltas: each one has only what is new since the last. When the connection drops, the request is sent
again with what has arrived as part of the prompt. Lines that only keep the connection alive are passed over.

    --custom-generate-function-path vime.rollout.vllm_streaming_rollout.generate_streaming
"""

from argparse import Namespace
import asyncio
from collections.abc import AsyncIterator
import json
import logging
from typing import Any

import httpx

from vime.rollout.vllm_rollout import (
    GenerateState,
    _build_sampling_params,
    _meta_info,
    _prepare_prompt_ids,
)
from vime.utils import http_utils
from vime.utils.trace_utils import build_vllm_meta_trace_attrs, trace_span
from vime.utils.types import Sample

__all__ = ["generate_streaming"]

logger = logging.getLogger(__name__)

MAX_DROPS = 3


async def _chunks(url: str, payload: dict[str, Any], headers) -> AsyncIterator[dict[str, Any]]:
    """The chunks of one request; comments and blank lines (keep-alives) are not chunks."""
    async with http_utils._http_client.stream(
        "POST", url, json=payload, headers=headers
    ) as response:
        response.raise_for_status()
        async for line in response.aiter_lines():
            data = line.removeprefix("data:").strip()
            if not line.startswith("data:") or not data or data == "[DONE]":
                continue
            chunk = json.loads(data)
            if "error" in chunk:
                raise RuntimeError(f"vLLM ended the stream: {chunk['error']['message']}")
            yield chunk


async def generate_streaming(
    args: Namespace, sample: Sample, sampling_params: dict[str, Any]
) -> Sample:
    """Like vllm_rollout.generate, chunk by chunk; a dropped connection is taken up where it broke."""
    assert not sample.multimodal_inputs, "the streaming rollout takes text alone"
    budget = sampling_params["max_new_tokens"] - sample.response_length
    if budget <= 0:
        sample.status = Sample.Status.TRUNCATED
        return sample

    state = GenerateState(args)
    url = f"http://{args.vllm_router_ip}:{args.vllm_router_port}/inference/v1/generate"
    headers = None
    if sample.session_id and args.router_policy == "consistent_hash":
        headers = {"x-session-id": sample.session_id}

    before = (sample.response, sample.response_length, list(sample.rollout_log_probs or []))
    old_tokens = list(
        sample.tokens or _prepare_prompt_ids(sample, state.tokenizer, state.processor)
    )
    old_mask = sample.loss_mask
    tokens, log_probs = [], []
    last_choice, usage = None, None

    with trace_span(sample, "vllm_generate_stream", attrs={"max_new_tokens": budget}) as span:
        for drop in range(MAX_DROPS + 1):
            params = {**sampling_params, "max_new_tokens": budget - len(tokens)}
            payload = {
                "token_ids": old_tokens + tokens,
                "sampling_params": _build_sampling_params(params),
                "stream": True,
                "stream_options": {"include_usage": True},
            }
            try:
                async for chunk in _chunks(url, payload, headers):
                    usage = chunk.get("usage") or usage
                    for choice in chunk["choices"]:
                        last_choice = choice
                        tokens += choice["token_ids"]
                        content = (choice.get("logprobs") or {}).get("content") or []
                        log_probs += [item["logprob"] for item in content]
                    sample.tokens = old_tokens + tokens
                    sample.response = before[0] + state.tokenizer.decode(tokens)
                    sample.response_length = before[1] + len(tokens)
                    sample.rollout_log_probs = before[2] + log_probs
                    if old_mask is not None:
                        sample.loss_mask = old_mask + [1] * len(tokens)
                    if state.aborted:
                        break
                break
            except (httpx.TransportError, ConnectionError) as e:
                finished = last_choice is not None and last_choice["finish_reason"]
                if finished or len(tokens) >= budget:
                    break
                if drop == MAX_DROPS:
                    raise
                logger.warning(f"the stream broke after {len(tokens)} tokens ({e}), once more")
                await asyncio.sleep(0.1 * 2**drop)

        if last_choice is not None and last_choice["finish_reason"]:
            meta = _meta_info(last_choice, usage)
            span.update(build_vllm_meta_trace_attrs(meta))
            sample.update_from_meta_info(args, meta)
        elif len(tokens) >= budget:
            sample.status = Sample.Status.TRUNCATED
        else:
            sample.status = Sample.Status.ABORTED
    return sample
