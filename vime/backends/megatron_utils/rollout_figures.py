"""Figures of one rollout's training data, under upstream's names: `rollout/...`."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
import torch.distributed as dist
from megatron.core import parallel_state

from vime.backends.megatron_utils.cp_utils import get_sum_of_sample_mean

_BY_TOKEN = (
    "log_probs",
    "ref_log_probs",
    "rollout_log_probs",
    "teacher_log_probs",
    "advantages",
    "returns",
    "entropy",
    "kl",
)
"""Means over rollouts of the mean over their unmasked tokens."""
_BY_SAMPLE = ("rewards", "response_lengths", "total_lengths", "truncated")
"""Means over samples."""


def rollout_figures(share: Mapping[str, Any]) -> dict[str, float]:
    """The means over all data-parallel ranks. Every rank must call, with the same columns."""
    rollouts, samples = sum(share["global_batch_sizes"]), len(share["tokens"])
    by_token = [name for name in _BY_TOKEN if share.get(name)]
    by_sample = [name for name in _BY_SAMPLE if share.get(name) is not None]
    mean = get_sum_of_sample_mean(
        share["total_lengths"], share["response_lengths"], share["loss_masks"], share["rollout_trained_tokens"]
    )
    sums = [float(mean(torch.cat(list(share[name])))) / rollouts for name in by_token]
    sums += [float(sum(share[name])) for name in by_sample] + [float(samples)]
    total = torch.tensor(sums, dtype=torch.float64, device=share["tokens"][0].device)
    dist.all_reduce(total, group=parallel_state.get_data_parallel_group(with_context_parallel=True))
    *values, samples = total.tolist()
    figures = dict(zip((*by_token, *by_sample), values, strict=True))
    figures |= {name: figures[name] / samples for name in by_sample}
    if share.get("raw_reward") is not None:
        raw = [reward for reward in share["raw_reward"] if isinstance(reward, (int, float))]
        figures |= {"raw_reward": sum(raw) / len(raw)} if raw else {}
    return {f"rollout/{name}": value for name, value in figures.items()}


def merged_steps(steps: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Figures of several updates as one: means, and of a `_max` the largest."""
    merged = {}
    for name in steps[0]:
        values = [one[name] for one in steps]
        merged[name] = max(values) if name.endswith("_max") else sum(values) / len(values)
    return merged
