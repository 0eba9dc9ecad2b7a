"""What must hold of a sample that is trained on, whichever way it came: its arrays are aligned, its logprobs an engine's."""

from __future__ import annotations

import math
from argparse import Namespace

from vime.errors import travels
from vime.utils.types import Sample

__all__ = ["SampleInvalid", "check_sample"]

# What an engine says of a token that has no probability, and how far above 0 rounding may bring one that is certain.
_NO_LOGPROB, _ROUNDING = -9000.0, 1e-4


@travels
class SampleInvalid(ValueError):
    """A sample that must not be trained on: names it, the column, and where in it."""

    def __init__(self, sample: Sample, what: str, fix: str) -> None:
        super().__init__(
            f"sample {sample.index} (prompt {sample.group_index}, {sample.response_length} response tokens of "
            f"{len(sample.tokens)}, {len(sample.weight_versions)} turn(s)): {what}; {fix}"
        )
        self.sample_index = sample.index


def check_sample(args: Namespace, sample: Sample) -> None:
    """Raises SampleInvalid unless the sample's arrays are aligned and its logprobs are what an engine can have said."""
    length = sample.response_length
    if length < 0 or length > len(sample.tokens):
        raise SampleInvalid(sample, "the response is longer than all tokens", "tokens is prompt and response")
    for name in ("loss_mask", "rollout_log_probs", "teacher_log_probs"):
        values = getattr(sample, name)
        if values is not None and len(values) != length:
            raise SampleInvalid(sample, f"{name} has {len(values)} entries", "append with append_response_tokens")
    if any(entry not in (0, 1) for entry in sample.loss_mask or ()):
        raise SampleInvalid(sample, "loss_mask has other entries than 0 and 1", "1 is trained on")
    if getattr(args, "loss_type", "policy_loss") == "policy_loss":
        _check_log_probs(sample)
    _check_top_p(args, sample)


def _check_log_probs(sample: Sample) -> None:
    trained = [i for i, on in enumerate(sample.loss_mask or ()) if on]
    if not trained:
        return
    if sample.rollout_log_probs is None:
        raise SampleInvalid(sample, "no rollout_log_probs", "keep those that the engine returned with the tokens")
    for position in trained:
        value = sample.rollout_log_probs[position]
        if value is None or not math.isfinite(value) or not _NO_LOGPROB < value <= _ROUNDING:
            raise SampleInvalid(
                sample,
                f"rollout_log_probs is {value} at response position {position}",
                "a logprob is finite and at most 0; -9999 is the engine's word for none",
            )


def _check_top_p(args: Namespace, sample: Sample) -> None:
    if getattr(args, "rollout_top_p", 1.0) == 1.0 or sample.remove_sample or not sample.response_length:
        return
    ids, offsets = sample.rollout_top_p_token_ids, sample.rollout_top_p_token_offsets
    if ids is None or offsets is None:
        raise SampleInvalid(sample, "no top-p token ids", "start the engine with --vllm-return-sampling-mask")
    if len(offsets) != sample.response_length + 1 or int(offsets[-1]) != len(ids):
        raise SampleInvalid(
            sample,
            f"{len(offsets)} top-p offsets up to {offsets[-1]} for {len(ids)} ids",
            "there is one more than tokens",
        )
