"""Generate with a stream, so that an abort in the middle of an answer keeps what has arrived.

vLLM's chunks are deltas: each one has only what is new since the last.

    --custom-generate-function-path vime.rollout.vllm_streaming_rollout.generate_streaming
"""

from argparse import Namespace
import json
from typing import Any

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


async def generate_streaming(
    args: Namespace, sample: Sample, sampling_params: dict[str, Any]
) -> Sample:
    """Like vllm_rollout.generate, chunk by chunk."""
    assert not sample.multimodal_inputs, "the streaming rollout takes text alone"
    budget = sampling_params["max_new_tokens"] - sample.response_length
    if budget <= 0:
        sample.status = Sample.Status.TRUNCATED
        return sample

    state = GenerateState(args)
    url = f"http://{args.vllm_router_ip}:{args.vllm_router_port}/inference/v1/generate"
    prompt_ids = _prepare_prompt_ids(sample, state.tokenizer, state.processor)
    payload = {
        "token_ids": prompt_ids,
        "sampling_params": _build_sampling_params({**sampling_params, "max_new_tokens": budget}),
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    headers = None
    if sample.session_id and args.router_policy == "consistent_hash":
        headers = {"x-session-id": sample.session_id}

    before = (sample.response, sample.response_length, list(sample.rollout_log_probs or []))
    old_tokens = list(sample.tokens or prompt_ids)
    old_mask = sample.loss_mask
    tokens, log_probs = [], []
    last_choice, usage = None, None

    with trace_span(sample, "vllm_generate_stream", attrs={"max_new_tokens": budget}) as span:
        async with http_utils._http_client.stream(
            "POST", url, json=payload, headers=headers
        ) as response:
            response.raise_for_status()
            async for line in response.aiter_lines():
                data = line.removeprefix("data:").strip()
                if not line.startswith("data:") or data == "[DONE]":
                    continue
                chunk = json.loads(data)
                if "error" in chunk:
                    raise RuntimeError(f"vLLM ended the stream: {chunk['error']['message']}")
                usage = chunk.get("usage") or usage
                for choice in chunk["choices"]:
                    last_choice = choice
                    tokens += choice["token_ids"]
                    log_probs += [item["logprob"] for item in choice["logprobs"]["content"]]
                sample.tokens = old_tokens + tokens
                sample.response = before[0] + state.tokenizer.decode(tokens)
                sample.response_length = before[1] + len(tokens)
                sample.rollout_log_probs = before[2] + log_probs
                if old_mask is not None:
                    sample.loss_mask = old_mask + [1] * len(tokens)
                if state.aborted:
                    break

        if last_choice is not None and last_choice["finish_reason"]:
            meta = _meta_info(last_choice, usage)
            span.update(build_vllm_meta_trace_attrs(meta))
            sample.update_from_meta_info(args, meta)
        else:
            sample.status = Sample.Status.ABORTED
    return sample
