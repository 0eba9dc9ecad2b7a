"""The generate function that reads the answer while it is generated.

    --custom-generate-function-path vime.rollout.vllm_streaming_rollout.generate_streaming

After each chunk the sample holds all that has arrived: where the rollout is aborted, nothing has to be asked back from the
engine. Everything else is as in vime.rollout.vllm_rollout, whose rollout functions call this.
"""

from __future__ import annotations

import logging
from argparse import Namespace
from collections.abc import Mapping
from typing import Any

from vime.backends.vllm_utils.seam import AnswerStream
from vime.observability.trace_utils import trace_span
from vime.rollout.engine_call import GenerationFailed, Patience, affinity, ask, never_arrived
from vime.rollout.hooks import with_rules
from vime.rollout.partial_sample import PartialSample, response_of
from vime.rollout.prompt_ids import tokens_left
from vime.rollout.refusals import no_images
from vime.rollout.rewarding import GENERATION_FAILED, give_up_on
from vime.rollout.stream_reading import StreamReading
from vime.rollout.vllm_rollout import GENERATE_ENDPOINT, GenerateState, _prepare_prompt_ids
from vime.utils.http_client import HttpError, HttpStatusError
from vime.utils.types import Sample

__all__ = ["generate_streaming"]

logger = logging.getLogger(__name__)

_ABOUT_THE_REQUEST = frozenset({400, 413, 422})
"""Statuses that refuse this one request; 401 or 404 would refuse every other, too, and ends the rollout."""


@with_rules(no_images)
async def generate_streaming(
    args: Namespace, sample: Sample, sampling_params: dict[str, Any], evaluation: bool = False
) -> Sample:
    """Generate a sample's response, or the rest of one that was aborted, from a stream.

    `sampling_params["max_new_tokens"]` is for the whole response; the parameters are not changed. A stream that does not
    end properly is asked for again with the patience of vime.rollout.engine_call, from where the sample stood. Where that
    is used up, or the request is refused, the sample is FAILED: it is not trained on, and `metadata["generation_failed"]`
    says why.

    Where the rollout is aborted the sample is ABORTED, whatever the stream did; one that had ended by then is COMPLETED
    when it is taken up again. Raises UnsupportedRequest for images, IncompleteAnswer where tokens come without logprobs,
    GenerationFailed where there is no engine, HttpStatusError where engines refuse more than this request.
    """
    if sample.status not in (Sample.Status.PENDING, Sample.Status.ABORTED):
        raise ValueError(f"sample {sample.index} is {sample.status.value}; only a pending or aborted one goes on")
    if vars(sample).pop("ended_while_aborting", False):
        sample.status = Sample.Status.COMPLETED
        return sample
    state = GenerateState(args)
    prompt_ids = _prepare_prompt_ids(sample, state.tokenizer, state.processor)
    left = tokens_left(args, sample, len(prompt_ids), sampling_params["max_new_tokens"])
    if left == 0:
        sample.status = Sample.Status.TRUNCATED
        return sample

    body = {
        "input_ids": list(prompt_ids),
        "sampling_params": {**sampling_params, "max_new_tokens": left},
        "return_logprob": True,
        "return_routed_experts": args.use_rollout_routing_replay,
        "image_data": (sample.multimodal_inputs or {}).get("images"),
        "stream": True,
    }
    before = response_of(sample)
    request = AnswerStream(body, state.tokenizer).request
    sample.tokens = sample.tokens or list(prompt_ids)
    partial = PartialSample(args, sample, state.tokenizer, request.asked.skip_special_tokens)

    def aborted() -> bool:
        return state.aborted and not evaluation

    async def send(url: str, request: Any, *, headers: Mapping[str, str] | None, max_retries: int) -> None:
        partial.rewind()
        if not aborted():
            answers = AnswerStream(request, state.tokenizer, before=before)
            await StreamReading(partial, answers, aborted, span).read(url, headers)

    url = f"http://{args.vllm_router_ip}:{args.vllm_router_port}{GENERATE_ENDPOINT}"
    with trace_span(sample, "vllm_generate_stream", attrs={"max_new_tokens": left}) as span:
        try:
            patience = Patience.of(args)
            await ask(send, url, request, headers=affinity(args, sample), patience=patience, sample=sample.index)
        except (GenerationFailed, HttpStatusError) as error:
            _fail(args, sample, error)
            span.set(GENERATION_FAILED, str(error))
        if aborted():
            if sample.status is Sample.Status.COMPLETED:
                sample.ended_while_aborting = True
            sample.status = Sample.Status.ABORTED
    return sample


def _fail(args: Namespace, sample: Sample, error: Exception) -> None:
    """The sample is FAILED where another may do better; else what went wrong is raised."""
    if isinstance(error, HttpStatusError):
        if error.status_code not in _ABOUT_THE_REQUEST:
            raise error
    elif isinstance(error.__cause__, HttpError) and never_arrived(error.__cause__):
        raise error
    logger.warning("sample %s failed: %s", sample.index, error)
    give_up_on(args, sample, GENERATION_FAILED, str(error))
    sample.status = Sample.Status.FAILED
