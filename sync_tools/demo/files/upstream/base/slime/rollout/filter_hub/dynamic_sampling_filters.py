from statistics import pstdev

from slime.rollout.filter_hub.base_types import DynamicFilterOutput
from slime.utils.types import Sample

__all__ = ["check_reward_nonzero_std", "check_no_aborted"]


def check_reward_nonzero_std(args, samples: list[Sample], **kwargs) -> DynamicFilterOutput:
    """A group whose samples all earned the same teaches nothing: there is no advantage in it."""
    rewards = [sample.get_reward_value(args) for sample in samples]
    keep = pstdev(rewards) > 0.0
    return DynamicFilterOutput(keep=keep, reason=None if keep else f"zero_std_{round(rewards[0], 1)}")


def check_no_aborted(args, samples: list[Sample], **kwargs) -> DynamicFilterOutput:
    """A group with an aborted sample has too few answers to compare."""
    aborted = sum(sample.status == Sample.Status.ABORTED for sample in samples)
    return DynamicFilterOutput(keep=aborted == 0, reason=f"aborted_{aborted}" if aborted else None)
