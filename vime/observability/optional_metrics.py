"""Figures of a rollout that an option asks for: --log-passrate, --log-multi-turn, --log-correct-samples."""

from argparse import Namespace
from collections.abc import Sequence

from vime.observability.metric_utils import compute_pass_rate, dict_add_prefix, mean
from vime.observability.train_metric_utils import multi_turn_metrics
from vime.utils.misc import group_by
from vime.utils.types import Sample

_QUARTERS = 4


def optional_metrics(args: Namespace, samples: Sequence[Sample]) -> dict[str, float]:
    """What is asked for, under upstream's names: passrate/, multi_turn/, rollout/correct_."""
    metrics: dict[str, float] = {}
    if args.log_passrate:
        metrics |= dict_add_prefix(_pass_rate(args, samples), "passrate/")
    if args.log_multi_turn:
        rounds = [one.metadata["round_number"] for one in samples if "round_number" in one.metadata]
        metrics |= dict_add_prefix(multi_turn_metrics(args, [_mask(one) for one in samples], rounds), "multi_turn/")
    if args.log_correct_samples:
        metrics |= dict_add_prefix(_correct(args, samples), "rollout/")
    return metrics


def _pass_rate(args: Namespace, samples: Sequence[Sample]) -> dict[str, float]:
    """pass@k over the groups that are whole."""
    size = args.n_samples_per_prompt
    groups = group_by(samples, lambda sample: sample.group_index).values()
    whole = [one.get_reward_value(args) for group in groups if len(group) == size for one in group]
    return compute_pass_rate(whole, size) if whole else {}


def _correct(args: Namespace, samples: Sequence[Sample]) -> dict[str, float]:
    """Of the samples with a reward of 1: their mean length, and the share in each quarter of the longest allowed."""
    lengths = [one.response_length for one in samples if one.get_reward_value(args) == 1]
    metrics = {"correct_response_lengths": mean(lengths)}
    for quarter in range(1, _QUARTERS + 1):
        low, high = (args.rollout_max_response_len * part / _QUARTERS for part in (quarter - 1, quarter))
        metrics[f"correct_length/p{100 * quarter // _QUARTERS}"] = mean(low < length <= high for length in lengths)
    return metrics


def _mask(sample: Sample) -> list[int]:
    return sample.loss_mask if sample.loss_mask is not None else [1] * sample.response_length
