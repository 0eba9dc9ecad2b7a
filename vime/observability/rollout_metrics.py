"""Figures of a rollout and of an evaluation, under upstream's names. Imports neither torch nor numpy."""

from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import Any

from vime.observability import logging_utils
from vime.observability.abort_metrics import ABORTED_RATIO
from vime.observability.metric_utils import compute_pass_rate, compute_rollout_step, dict_add_prefix, mean
from vime.observability.optional_metrics import optional_metrics
from vime.observability.sample_metrics import (
    compute_metrics_from_samples,
    compute_perf_metrics_from_samples,
    reward_metrics,
)
from vime.utils.misc import load_function
from vime.utils.types import Sample

__all__ = [
    "compute_metrics_from_samples",
    "compute_perf_metrics_from_samples",
    "eval_figures",
    "log_eval_rollout_data",
    "log_rollout_data",
    "rollout_figures",
]


def log_rollout_data(
    rollout_id: int,
    args: Namespace,
    samples: Sequence[Sample],
    rollout_extra_metrics: Mapping[str, float] | None,
    rollout_time: float,
) -> dict[str, float] | None:
    """Log a rollout that took `rollout_time` seconds; what was logged, None where the user's function did it instead."""
    metrics = rollout_figures(rollout_id, args, samples, rollout_extra_metrics, rollout_time)
    if metrics is not None:
        logging_utils.log(args, metrics, step_key="rollout/step")
    return metrics


def rollout_figures(
    rollout_id: int,
    args: Namespace,
    samples: Sequence[Sample],
    rollout_extra_metrics: Mapping[str, float] | None,
    rollout_time: float,
) -> dict[str, float] | None:
    """What is to be logged of a rollout; None where the user's function logged instead, or nothing was generated."""
    if args.custom_rollout_log_function_path is not None:
        log = load_function(args.custom_rollout_log_function_path)
        if log(rollout_id, args, samples, rollout_extra_metrics, rollout_time):
            return None
    if args.load_debug_rollout_data:
        return None
    metrics = dict(rollout_extra_metrics or {})
    metrics |= dict_add_prefix(compute_metrics_from_samples(args, samples), "rollout/")
    metrics |= dict_add_prefix(reward_metrics(args, samples), "rollout/")
    metrics |= optional_metrics(args, samples)
    metrics |= dict_add_prefix(compute_perf_metrics_from_samples(args, samples, rollout_time), "perf/")
    # Of the samples that are trained on none was aborted; what was, the rollout function has counted.
    metrics |= {name: v for name, v in (rollout_extra_metrics or {}).items() if ABORTED_RATIO in name.split("/")}
    return metrics | {"rollout/step": compute_rollout_step(args, rollout_id)}


def log_eval_rollout_data(
    rollout_id: int,
    args: Namespace,
    data: Mapping[str, Mapping[str, Any]],
    extra_metrics: Mapping[str, float] | None = None,
) -> dict[str, float] | None:
    """Log an evaluation: for each set its `rewards`, and `samples` and `truncated` where they are there."""
    metrics = eval_figures(rollout_id, args, data, extra_metrics)
    if metrics is not None:
        logging_utils.log(args, metrics, step_key="eval/step")
    return metrics


def eval_figures(
    rollout_id: int,
    args: Namespace,
    data: Mapping[str, Mapping[str, Any]],
    extra_metrics: Mapping[str, float] | None = None,
) -> dict[str, float] | None:
    """What is to be logged of an evaluation; None where the user's function logged instead."""
    if args.custom_eval_rollout_log_function_path is not None:
        log = load_function(args.custom_eval_rollout_log_function_path)
        if log(rollout_id, args, data, extra_metrics):
            return None
    metrics = dict(extra_metrics or {})
    for name, one in data.items():
        metrics |= _eval_metrics(args, name, one)
    return metrics | {"eval/step": compute_rollout_step(args, rollout_id)}


def _eval_metrics(args: Namespace, name: str, one: Mapping[str, Any]) -> dict[str, float]:
    rewards = one["rewards"]
    metrics = {f"eval/{name}": mean(rewards)}
    if one.get("samples"):
        metrics |= dict_add_prefix(compute_metrics_from_samples(args, one["samples"]), f"eval/{name}/")
    if "truncated" in one:
        metrics[f"eval/{name}-truncated_ratio"] = mean(one["truncated"])
    if args.log_passrate:
        metrics |= dict_add_prefix(compute_pass_rate(rewards, args.n_samples_per_eval_prompt), f"eval/{name}-")
    return metrics
