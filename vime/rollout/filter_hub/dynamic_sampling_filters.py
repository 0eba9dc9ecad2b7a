"""Filters to name with --dynamic-sampling-filter-path. DAPO's: a group whose rewards are all alike teaches nothing."""

import statistics
from argparse import Namespace
from collections.abc import Sequence
from typing import Any

from vime.rollout.filter_hub.base_types import DynamicFilterOutput
from vime.rollout.groups import leaves
from vime.utils.types import Sample

__all__ = ["check_reward_nonzero_std", "check_reward_nonzero_std_with_fallback"]

_ALIKE = 1e-6


def check_reward_nonzero_std(args: Namespace, samples: Sequence[Sample], **kwargs: Any) -> DynamicFilterOutput:
    """Keep a group whose rewards differ."""
    rewards = [sample.get_reward_value(args) for sample in leaves(samples)]
    keep = len(rewards) > 1 and statistics.stdev(rewards) > _ALIKE
    return DynamicFilterOutput(keep=keep, reason=None if keep else f"zero_std_{round(rewards[0], 1)}")


def check_reward_nonzero_std_with_fallback(
    args: Namespace, samples: Sequence[Sample], **kwargs: Any
) -> DynamicFilterOutput:
    """The same, but rather than ask for more prompts a group is kept whose rewards are alike."""
    output = check_reward_nonzero_std(args, samples, **kwargs)
    output.keep_when_insufficient = True
    return output
