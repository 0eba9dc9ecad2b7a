"""Samples as columns for the trainer; what must hold of each is in vime.rollout.sample_checks."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import Any

from vime.rollout.certainty import contradicted
from vime.rollout.groups import Group, leaves
from vime.rollout.hooks import load_hook
from vime.rollout.normalised_rewards import post_process_rewards
from vime.rollout.sample_checks import SampleInvalid, check_sample
from vime.utils.data import get_source
from vime.utils.types import RolloutBatch, Sample

__all__ = ["convert_samples_to_train_data"]


def convert_samples_to_train_data(args: Namespace, samples: Sequence[Sample] | Sequence[Group]) -> RolloutBatch:
    """The columns of a rollout, one value a sample; groups and fan-outs are flattened in their order.

    tokens: list[int], prompt and response. response_lengths: int. loss_masks: list[int], rollout_log_probs (where there
    are any): list[float], one a response token. rewards: normalised by prompt; raw_reward: as given. rollout_ids: alike
    for what one rollout was fanned out into. rollout_mask_sums: tokens trained on, of the sample's whole rollout.
    weight_versions: list[str], one a request. Optional columns are there where samples have them.

    Raises SampleInvalid. Changes nothing but missing loss masks, and missing ids of fan-outs.
    """
    if (path := args.custom_convert_samples_to_train_data_path) is not None:
        return load_hook("custom_convert_samples_to_train_data_path", path)(args, leaves(samples))
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
