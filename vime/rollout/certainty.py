"""Whether logprobs that are all 0, which says probability 1, can have been meant: a policy that is certain has one answer.

float32 rounds the logprob of a probability above 1 - 6e-8 to 0, so that a short answer of a policy that has converged may
have zeros alone. Who fills zeros in for what is not known does so whatever was sampled. What does not contradict itself
here is compared with the trainer's own logprobs before an update is made.
"""

import itertools
from collections.abc import Iterable, Sequence

from vime.utils.types import Sample


def contradicted(samples: Iterable[Sample]) -> Sample | None:
    """A sample whose trained logprobs are all 0, where another one such of its prompt has a different token in a place that
    both were certain of, and the same tokens before; None where there is none."""
    by_prompt: dict[int | None, list[Sample]] = {}
    for sample in samples:
        if _is_certain(sample):
            by_prompt.setdefault(sample.group_index, []).append(sample)
    for alike in by_prompt.values():
        alike.sort(key=lambda sample: sample.tokens)
        for one, other in itertools.pairwise(alike):
            place = _first_difference(one.tokens, other.tokens)
            if place is not None and _is_trained(one, place) and _is_trained(other, place):
                return one if one.index is None or other.index is None else max(one, other, key=lambda s: s.index)
    return None


def _is_certain(sample: Sample) -> bool:
    pairs = zip(sample.loss_mask or (), sample.rollout_log_probs or ())
    trained = [log_prob for on, log_prob in pairs if on]
    return bool(trained) and not any(trained)


def _first_difference(one: Sequence[int], other: Sequence[int]) -> int | None:
    return next((place for place, (a, b) in enumerate(zip(one, other)) if a != b), None)


def _is_trained(sample: Sample, place: int) -> bool:
    start = len(sample.tokens) - sample.response_length
    return place >= start and bool(sample.loss_mask[place - start])
