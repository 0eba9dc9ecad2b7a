"""What samples say of themselves, as figures under upstream's names. Imports neither torch nor numpy."""

import itertools
import math
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from vime.observability.abort_metrics import AbortCount
from vime.observability.metric_utils import compute_statistics, dict_add_prefix, has_repetition, mean
from vime.utils.misc import group_by
from vime.utils.types import Sample, Status

__all__ = ["compute_metrics_from_samples", "compute_perf_metrics_from_samples", "reward_metrics"]

_GENERATIONS = frozenset({"vllm_generate", "vllm_generate_stream"})
"""Spans of a request to an engine."""
_REQUEST_FIELDS = {"request/e2e_latency": "e2e_latency", "request/queue_time": "queue_time"}
"""Metric, and the entry of a generation's span that it is made of."""
_STATUS_RATIOS = {
    "truncated_ratio": Status.TRUNCATED,
    "failed_ratio": Status.FAILED,
}


def compute_metrics_from_samples(args: Namespace, samples: Sequence[Sample]) -> dict[str, float]:
    """What the samples say of themselves: lengths, how they ended, groups without a difference, caches, repetition."""
    if not samples:
        return {}
    metrics = dict_add_prefix(compute_statistics([one.effective_response_length for one in samples]), "response_len/")
    metrics |= _zero_std_metrics(args, samples)
    metrics |= _spec_metrics(args, samples)
    metrics |= _prefix_cache_metrics(samples)
    metrics |= _reward_category_metrics(args, samples)
    metrics |= _top_p_metrics(samples)
    metrics |= _tool_metrics(samples)
    metrics["repetition_frac"] = mean(has_repetition(one.response) for one in samples)
    metrics |= {name: mean(one.status is status for one in samples) for name, status in _STATUS_RATIOS.items()}
    metrics |= _aborted_metrics(samples)
    metrics["mixed_weight_versions_ratio"] = mean(len(set(one.weight_versions)) > 1 for one in samples)
    return metrics


def compute_perf_metrics_from_samples(
    args: Namespace, samples: Sequence[Sample], rollout_time: float
) -> dict[str, float]:
    """Speed of a rollout of `rollout_time` seconds: tokens a second and GPU, and of the longest sample."""
    metrics = {"rollout_time": rollout_time}
    if not samples:
        return metrics
    waits = [one.non_generation_time for one in samples]
    if max(waits) > 0:
        metrics |= dict_add_prefix(compute_statistics(waits), "non_generation_time/")
    if rollout_time > 0:
        for key, lengths in (
            ("", [one.response_length for one in samples]),
            ("effective_", [one.effective_response_length for one in samples]),
        ):
            metrics |= _token_speed(args, key, lengths, waits, rollout_time)
    return metrics | _request_metrics(samples)


def _token_speed(args: Namespace, key: str, lengths: list[int], waits: list[float], seconds: float) -> dict[str, float]:
    longest = max(lengths)
    metrics = {f"longest_{key}sample_tokens_per_sec": longest / seconds}
    if args.rollout_num_gpus:
        metrics[f"{key}tokens_per_gpu_per_sec"] = sum(lengths) / seconds / args.rollout_num_gpus
    if max(waits) > 0:
        wait = mean(wait for wait, length in zip(waits, lengths, strict=True) if length == longest)
        metrics[f"longest_{key}sample_non_generation_time"] = wait
        if seconds > wait:
            metrics[f"longest_{key}sample_tokens_per_sec_without_non_generation"] = longest / (seconds - wait)
    return metrics


def _request_metrics(samples: Sequence[Sample]) -> dict[str, float]:
    spans = list(_generations(samples))
    found = {
        metric: [span[entry] for span in spans if _is_number(span.get(entry))]
        for metric, entry in _REQUEST_FIELDS.items()
    }
    return {
        f"{metric}/{name}": value
        for metric, values in found.items()
        for name, value in compute_statistics(values).items()
    }


def _generations(samples: Sequence[Sample]) -> Iterator[Mapping[str, Any]]:
    """What the engine's answers said, from the samples' traces."""
    for sample in samples:
        trace = getattr(sample, "trace", None)
        for event in trace.get("events") or [] if isinstance(trace, dict) else []:
            if event.get("type") == "span_end" and event.get("name") in _GENERATIONS:
                yield event.get("attrs") or {}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def reward_metrics(args: Namespace, samples: Sequence[Sample]) -> dict[str, float]:
    """The mean reward of those that have a number."""
    rewards = [reward for one in samples if _is_number(reward := _reward(args, one))]
    return {"raw_reward": mean(rewards)} if rewards else {}


def _reward(args: Namespace, sample: Sample) -> Any:
    return sample.get_reward_value(args) if sample.reward is not None else None


def _zero_std_metrics(args: Namespace, samples: Sequence[Sample]) -> dict[str, float]:
    """How many groups got the same reward for every sample, by that reward: such a group teaches nothing."""
    if args.advantage_estimator == "ppo":
        return {}
    groups = group_by(samples, lambda sample: sample.group_index).values()
    rewards = [[_reward(args, sample) for sample in group] for group in groups]
    same = Counter(str(round(group[0], 1)) for group in rewards if _is_number(group[0]) and len(set(group)) == 1)
    return {f"zero_std/count_{reward}": count for reward, count in same.items()}


def _aborted_metrics(samples: Sequence[Sample]) -> dict[str, float]:
    count = AbortCount()
    count.add(samples)
    return count.ratios()


def _spec_metrics(args: Namespace, samples: Sequence[Sample]) -> dict[str, float]:
    if not getattr(args, "vllm_speculative_config", None):
        return {}
    return {
        "spec_accept_rate": mean(one.spec_info.spec_accept_rate for one in samples),
        "spec_accept_length": mean(one.spec_info.spec_accept_length for one in samples),
    }


def _prefix_cache_metrics(samples: Sequence[Sample]) -> dict[str, float]:
    cached = sum(one.prefix_cache_info.cached_tokens for one in samples)
    asked = sum(one.prefix_cache_info.total_prompt_tokens for one in samples)
    return {
        "prefix_cache_hit_rate": cached / asked if asked else 0.0,
        "avg_cached_tokens_per_sample": cached / len(samples),
    }


def _reward_category_metrics(args: Namespace, samples: Sequence[Sample]) -> dict[str, float]:
    if args.log_reward_category is None:
        return {}
    counts = Counter(one.reward[args.log_reward_category] for one in samples)
    return {f"error_cat/{category}": count / len(samples) for category, count in counts.items()}


def _tool_metrics(samples: Sequence[Sample]) -> dict[str, float]:
    """Tool calls a sample, where a generate function counted them in its `tool_call_count`."""
    calls = [count for one in samples if (count := getattr(one, "tool_call_count", None)) is not None]
    return dict_add_prefix(compute_statistics(calls), "tool_calls/")


def _top_p_metrics(samples: Sequence[Sample]) -> dict[str, float]:
    """Tokens that top-p left to choose from, on average over the trained tokens."""
    kept: list[int] = []
    for one in samples:
        if one.rollout_top_p_token_offsets is None or one.remove_sample:
            continue
        offsets = [int(offset) for offset in one.rollout_top_p_token_offsets]
        mask = one.loss_mask if one.loss_mask is not None else [1] * one.response_length
        widths = [after - before for before, after in itertools.pairwise(offsets)]
        kept += [width for width, trained in zip(widths, mask, strict=True) if trained]
    return {"top_p_kept_vocab_per_token": mean(kept)} if kept else {}
