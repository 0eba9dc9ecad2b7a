"""Samples as columns for the trainer, with the invariants that every path to it must keep."""

from __future__ import annotations

import math
import statistics
from argparse import Namespace
from collections.abc import Sequence
from typing import Any

from vime.errors import travels
from vime.rollout.certainty import contradicted
from vime.rollout.groups import Group, leaves
from vime.rollout.hooks import load_hook
from vime.rollout.rewarding import check_reward, reward_failed
from vime.utils.data import get_source
from vime.utils.types import RolloutBatch, Sample

__all__ = ["SampleInvalid", "convert_samples_to_train_data", "normalise_rewards", "post_process_rewards"]

_STD_FLOOR = 1e-6
# What an engine says of a token that has no probability, and how far above 0 rounding may bring one that is certain.
_NO_LOGPROB, _ROUNDING = -9000.0, 1e-4
_BY_GROUP = frozenset({"grpo", "gspo", "cispo", "reinforce_plus_plus_baseline"})
_BY_DEVIATION = frozenset({"grpo", "gspo", "cispo"})


@travels
class SampleInvalid(ValueError):
    """A sample that must not be trained on: names it, the column, and where in it."""

    def __init__(self, sample: Sample, what: str, fix: str) -> None:
        super().__init__(
            f"sample {sample.index} (prompt {sample.group_index}, {sample.response_length} response tokens of "
            f"{len(sample.tokens)}, {len(sample.weight_versions)} turn(s)): {what}; {fix}"
        )
        self.sample_index = sample.index


def convert_samples_to_train_data(args: Namespace, samples: Sequence[Sample] | Sequence[Group]) -> RolloutBatch:
    """The columns of a rollout, one value a sample; groups and fan-outs are flattened in their order.

    tokens: list[int], prompt and response. response_lengths: int. loss_masks: list[int], rollout_log_probs (where there
    are any): list[float], one a response token. rewards: normalised by prompt; raw_reward: as given. rollout_ids: alike
    for what one rollout was fanned out into. rollout_mask_sums: tokens trained on, of the sample's whole rollout.
    weight_versions: list[str], one a request. Optional columns are there where samples have them.

    Raises SampleInvalid. Changes nothing but missing loss masks, and missing ids of fan-outs.
    """
    if args.custom_convert_samples_to_train_data_path is not None:
        return _hook(args, "custom_convert_samples_to_train_data_path")(args, leaves(samples))
    rollouts = _rollouts(samples)
    flat = [sample for rollout in rollouts for sample in rollout]
    if not flat:
        raise ValueError("a rollout without samples cannot be trained on")
    for sample in flat:
        _fill_loss_mask(sample)
        check_sample(args, sample)
    if getattr(args, "loss_type", "policy_loss") == "policy_loss" and (filled := contradicted(flat)):
        raise SampleInvalid(
            filled,
            "rollout_log_probs are all 0 (probability 1), as are those of another sample of its prompt that differs",
            "they were filled in, and not returned by an engine",
        )
    ids = _rollout_ids(rollouts)
    raw, rewards = post_process_rewards(args, flat)
    masks = [sample.loss_mask for sample in flat]
    batch: RolloutBatch = {
        "tokens": [sample.tokens for sample in flat],
        "response_lengths": [sample.response_length for sample in flat],
        "rewards": rewards,
        "raw_reward": [sample.metadata.get("raw_reward", reward) for sample, reward in zip(flat, raw, strict=True)],
        "truncated": [int(sample.status is Sample.Status.TRUNCATED) for sample in flat],
        "sample_indices": [sample.index for sample in flat],
        "rollout_ids": ids,
        "loss_masks": masks,
        "rollout_mask_sums": _sums_by(ids, [sum(mask) for mask in masks]),
        "weight_versions": [sample.weight_versions for sample in flat],
        "source_names": [get_source(sample) for sample in flat],
    }
    return batch | _optional_columns(args, flat)


def post_process_rewards(args: Namespace, samples: Sequence[Sample]) -> tuple[list[float], list[float]]:
    """(raw, normalised) rewards, by --custom-reward-post-process-path where there is one."""
    if args.custom_reward_post_process_path is not None:
        raw, rewards = _hook(args, "custom_reward_post_process_path")(args, samples)
        if not len(raw) == len(rewards) == len(samples):
            raise ValueError(
                f"{args.custom_reward_post_process_path} gave {len(raw)} raw and {len(rewards)} normalised rewards "
                f"for {len(samples)} samples"
            )
        return list(raw), list(rewards)
    for sample in samples:
        check_reward(sample, sample.reward, args.reward_key)
    raw = [sample.get_reward_value(args) for sample in samples]
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


def _hook(args: Namespace, kind: str) -> Any:
    return load_hook(kind, getattr(args, kind))


def _rollouts(samples: Sequence[Any]) -> list[list[Sample]]:
    """The samples of each rollout: a list within a group is one that was fanned out."""
    rollouts = []
    for entry in samples:
        items = entry if isinstance(entry, list) else [entry]
        rollouts += [leaves(item) for item in items if leaves(item)]
    return rollouts


def _rollout_ids(rollouts: Sequence[Sequence[Sample]]) -> list[int]:
    """The samples' own ids; those of a rollout that has none get a free one, all the same, and keep it if fanned out."""
    used = {sample.rollout_id for rollout in rollouts for sample in rollout} - {None}
    free = (number for number in range(len(used) + sum(map(len, rollouts))) if number not in used)
    ids: list[int] = []
    for rollout in rollouts:
        known = next((sample.rollout_id for sample in rollout if sample.rollout_id is not None), None)
        default = next(free) if known is None else known
        for sample in rollout:
            if sample.rollout_id is None and len(rollout) > 1:
                sample.rollout_id = default
            ids.append(default if sample.rollout_id is None else sample.rollout_id)
    return ids


def _sums_by(ids: Sequence[int], values: Sequence[int]) -> list[int]:
    totals: dict[int, int] = {}
    for key, value in zip(ids, values, strict=True):
        totals[key] = totals.get(key, 0) + value
    return [totals[key] for key in ids]


def _fill_loss_mask(sample: Sample) -> None:
    if sample.remove_sample:
        sample.loss_mask = [0] * sample.response_length
    elif sample.loss_mask is None:
        sample.loss_mask = [1] * sample.response_length


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


def _optional_columns(args: Namespace, samples: Sequence[Sample]) -> dict[str, list[Any]]:
    """Columns that all samples must have where the first has them, and those that any may have."""
    columns = {}
    for column, name in (
        ("rollout_log_probs", "rollout_log_probs"),
        ("rollout_routed_experts", "rollout_routed_experts"),
        ("metadata", "train_metadata"),
        ("teacher_log_probs", "teacher_log_probs"),
    ):
        values = [getattr(sample, name) for sample in samples]
        missing = [sample for sample, value in zip(samples, values, strict=True) if value is None]
        if len(missing) == len(samples):
            continue
        if missing and column == "rollout_log_probs":
            values = [[0.0] * s.response_length if v is None else v for s, v in zip(samples, values, strict=True)]
        elif missing:
            raise SampleInvalid(missing[0], f"no {name}, which other samples have", "all have it or none")
        columns[column] = values
    if getattr(args, "rollout_top_p", 1.0) != 1.0:
        columns["rollout_top_p_token_ids"] = [sample.rollout_top_p_token_ids for sample in samples]
        columns["rollout_top_p_token_offsets"] = [sample.rollout_top_p_token_offsets for sample in samples]
    if any(sample.multimodal_train_inputs is not None for sample in samples):
        columns["multimodal_train_inputs"] = [sample.multimodal_train_inputs for sample in samples]
    if any("round_number" in sample.metadata for sample in samples):
        columns["round_number"] = [sample.metadata.get("round_number") for sample in samples]
    return columns
