"""Figures over lists of numbers and texts, under upstream's names. Standard library only."""

import bz2
import gzip
import lzma
import math
import statistics
import zlib
from argparse import Namespace
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

Algorithm = Literal["zlib", "gzip", "bz2", "lzma"]
_COMPRESS: Mapping[Algorithm, Callable[[bytes, int], bytes]] = {
    "zlib": lambda data, level: zlib.compress(data, level),
    "gzip": lambda data, level: gzip.compress(data, level, mtime=0),
    "bz2": lambda data, level: bz2.compress(data, level),
    "lzma": lambda data, level: lzma.compress(data, preset=level),
}
_REPETITION_WINDOW = 10_000
_REPETITION_RATIO = 10.0


def dict_add_prefix(d: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """The same values under names that begin with `prefix`."""
    return {prefix + name: value for name, value in d.items()}


def mean(values: Iterable[float]) -> float:
    """The mean; 0.0 of nothing."""
    numbers = list(values)
    return math.fsum(numbers) / len(numbers) if numbers else 0.0


def compute_statistics(values: Sequence[float]) -> dict[str, float]:
    """mean, median, max and min; {} of nothing."""
    if not values:
        return {}
    return {
        "mean": mean(values),
        "median": float(statistics.median(values)),
        "max": float(max(values)),
        "min": float(min(values)),
    }


def compute_pass_rate(
    flat_rewards: Sequence[float], group_size: int, num_groups: int | None = None
) -> dict[str, float]:
    """pass@k for k = 1, 2, 4 ... up to the group's size, where a reward of 1 passes; {} for groups of one.

    `flat_rewards` has group after group. Raises ValueError where they are not whole groups. The estimate is the
    unbiased one of Chen et al. 2021 (arXiv 2107.03374), averaged over the groups.
    """
    if group_size == 1:
        return {}
    groups = [flat_rewards[start : start + group_size] for start in range(0, len(flat_rewards), group_size)]
    expected = len(flat_rewards) // group_size if num_groups is None else num_groups
    if len(flat_rewards) != expected * group_size:
        raise ValueError(f"pass@k: {len(flat_rewards)} rewards are not {expected} groups of {group_size}")
    passed = [sum(reward == 1 for reward in group) for group in groups]
    sizes = [2**power for power in range(group_size.bit_length())]
    return {f"pass@{k}": mean(_pass_at_k(group_size, right, k) for right in passed) for k in sizes}


def _pass_at_k(drawn: int, right: int, k: int) -> float:
    return 1.0 - math.comb(drawn - right, k) / math.comb(drawn, k)


def compression_ratio(
    data: str | bytes, *, encoding: str = "utf-8", algorithm: Algorithm = "zlib", level: int = 9
) -> tuple[float, float]:
    """How many times smaller compression makes it, and the bytes saved in per cent; (inf, 0.0) of nothing."""
    if algorithm not in _COMPRESS:
        raise ValueError(f"compression {algorithm!r}: there are {', '.join(_COMPRESS)}")
    raw = data.encode(encoding, "backslashreplace") if isinstance(data, str) else data
    if not raw:
        return math.inf, 0.0
    size = len(_COMPRESS[algorithm](raw, level))
    return len(raw) / size, 100.0 * (1.0 - size / len(raw))


def has_repetition(text: str) -> bool:
    """Whether a long text ends in much of the same: its last 10,000 characters compress more than tenfold."""
    return len(text) > _REPETITION_WINDOW and compression_ratio(text[-_REPETITION_WINDOW:])[0] > _REPETITION_RATIO


def compute_rollout_step(args: Namespace, rollout_id: int) -> int:
    """The step at which a rollout is logged: its number, or the updates before it (--wandb-always-use-train-step)."""
    if not args.wandb_always_use_train_step:
        return rollout_id
    return rollout_id * args.rollout_batch_size * args.n_samples_per_prompt // args.global_batch_size


def is_eval_score(name: str) -> bool:
    """Whether a metric is the mean reward of an evaluation set (eval/NAME), and no part or ratio of it."""
    family, _, rest = name.partition("/")
    return (
        family == "eval"
        and "/" not in rest
        and rest != "step"
        and not rest.endswith("-truncated_ratio")
        and "-pass@" not in rest
    )
