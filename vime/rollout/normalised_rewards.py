"""Rewards as the trainer takes them: normalised by prompt, or by a function of the user's."""

from __future__ import annotations

import math
import statistics
from argparse import Namespace
from collections.abc import Sequence
from typing import Any

from vime.rollout.hooks import load_hook
from vime.rollout.rewarding import check_reward, reward_failed
from vime.rollout.sample_checks import SampleInvalid
from vime.utils.types import Sample

__all__ = ["normalise_rewards", "post_process_rewards"]

_STD_FLOOR = 1e-6
_BY_GROUP = frozenset({"grpo", "gspo", "cispo", "reinforce_plus_plus_baseline"})
_BY_DEVIATION = frozenset({"grpo", "gspo", "cispo"})


def post_process_rewards(args: Namespace, samples: Sequence[Sample]) -> tuple[list[float], list[float]]:
    """(raw, normalised) rewards, by --custom-reward-post-process-path where there is one."""
    if (path := args.custom_reward_post_process_path) is not None:
        raw, rewards = load_hook("custom_reward_post_process_path", path)(args, samples)
        if not len(raw) == len(rewards) == len(samples):
            raise ValueError(
                f"{path} gave {len(raw)} raw and {len(rewards)} normalised rewards for {len(samples)} samples"
            )
        return list(raw), list(rewards)
    for sample in samples:
        check_reward(sample, sample.reward, args.reward_key)
    raw = [float(sample.get_reward_value(args)) for sample in samples]
    if args.advantage_estimator not in _BY_GROUP or not args.rewards_normalization:
        return raw, list(raw)
    by_deviation = args.advantage_estimator in _BY_DEVIATION and args.grpo_std_normalization
    return raw, normalise_rewards(samples, raw, by_deviation)


def normalise_rewards(samples: Sequence[Sample], rewards: Sequence[float], by_deviation: bool) -> list[float]:
    """Each reward less its prompt's mean, over its prompt's deviation (GRPO, arXiv:2402.03300) if asked for.

    A prompt's samples are those of its group_index, however many. A rollout that was fanned out counts once, by the mean
    of its samples; a sample whose reward failed does not count, and gets 0. Deviation is that of a sample (n - 1), plus
    1e-6.
    """
    by_prompt: dict[int, dict[Any, list[float]]] = {}
    for position, (sample, reward) in enumerate(zip(samples, rewards, strict=True)):
        if sample.group_index is None:
            raise SampleInvalid(sample, "it belongs to no prompt", "set group_index, by which rewards are normalised")
        if not reward_failed(sample):
            key = ("alone", position) if sample.rollout_id is None else ("rollout", sample.rollout_id)
            by_prompt.setdefault(sample.group_index, {}).setdefault(key, []).append(float(reward))
    scale = {prompt: _mean_and_scale(found.values(), by_deviation) for prompt, found in by_prompt.items()}
    result = []
    for sample, reward in zip(samples, rewards, strict=True):
        mean, width = scale.get(sample.group_index, (reward, 1.0))
        result.append(0.0 if reward_failed(sample) else (float(reward) - mean) / width)
    return result


def _mean_and_scale(rollouts: Any, by_deviation: bool) -> tuple[float, float]:
    values = [statistics.fmean(rewards) for rewards in rollouts]
    mean = statistics.fmean(values)
    if not by_deviation:
        return mean, 1.0
    deviation = math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1)) if len(values) > 1 else 0.0
    return mean, deviation + _STD_FLOOR
