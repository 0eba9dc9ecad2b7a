"""Why a sample was aborted: `metadata["abort_reason"]`, one word for each kind of cause."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from vime.utils.types import Sample

__all__ = ["ABORT_REASON", "LIKELY_CAUSES", "OF_ITSELF", "abort_reason", "abort_sample"]

logger = logging.getLogger(__name__)

ABORT_REASON = "abort_reason"
ENGINE_ABORT, ROLLOUT_STOPPED = "engine_abort", "rollout_stopped"
OF_ITSELF = frozenset({"no_logprobs", "logprobs_mismatch", "logprobs_not_finite", "engine_error"})
"""Reasons that lie in the answer: the sample will be aborted again, most likely, when it is generated again."""
LIKELY_CAUSES: Mapping[str, str] = {
    "no_logprobs": (
        "the engine sends no logprobs although every request asks for them: is what answers vLLM's /inference/v1/generate "
        "(--rollout-external-engine-addrs, --vllm-router-ip), with --vllm-max-logprobs of at least 1?"
    ),
    "logprobs_mismatch": (
        "the engine does not send one logprob a token: is it the vLLM that this was written for, with nothing between that "
        "changes its answers (--rollout-external-engine-addrs, --vllm-router-ip)?"
    ),
    "logprobs_not_finite": "the engine's logprobs are no numbers: are its weights? try --dtype float32 or bfloat16",
    "engine_error": "the engine could not finish requests; its log says why",
    ENGINE_ABORT: (
        "requests are cut short on the engine by something else than the end of the rollout: an evaluation or another run "
        "on the same engines, or a pause that aborts"
    ),
}


def abort_sample(sample: Sample, reason: str) -> None:
    """Mark the sample as aborted. The log has the likely cause where the reason lies in the engine's answer."""
    sample.status = Sample.Status.ABORTED
    sample.metadata[ABORT_REASON] = reason
    if reason in OF_ITSELF:
        logger.warning("sample %s is aborted (%s): %s", sample.index, reason, LIKELY_CAUSES[reason])


def abort_reason(sample: Sample) -> str | None:
    """Why it was aborted; None for a sample that was not. Where nobody said why, the engine cut it short."""
    if sample.status is not Sample.Status.ABORTED:
        return None
    return sample.metadata.get(ABORT_REASON, ENGINE_ABORT)
