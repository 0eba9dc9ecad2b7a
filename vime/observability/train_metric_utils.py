"""Figures of the trainer, under upstream's names. What crosses ranks imports torch; the rest is plain."""

from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from vime.observability import logging_utils
from vime.observability.metric_utils import compute_pass_rate, compute_rollout_step, dict_add_prefix, mean

if TYPE_CHECKING:
    import torch.distributed as dist

Value = float | tuple[float, float]
"""A number, or a sum and a count, of which the ranks' totals are divided."""


def reduce_train_step_metrics(
    losses_reduced: Sequence[Mapping[str, Any]],
    *,
    calculate_per_token_loss: bool,
    step_global_batch_size: int,
    cp_size: int,
    dp_with_cp_group: "dist.ProcessGroup",
) -> dict[str, float]:
    """A step's figures from those of its micro-batches and ranks; a collective over `dp_with_cp_group`.

    Each micro-batch has `keys` and `values`, a tensor [1 + len(keys)] of which the first is its count of tokens. Sums are
    divided by the tokens (which each context-parallel rank counts whole, hence `cp_size`) or by the step's samples.
    """
    import torch.distributed as dist

    keys = losses_reduced[0]["keys"]
    total = sum(one["values"] for one in losses_reduced[1:]) + losses_reduced[0]["values"]
    if total.numel() != len(keys) + 1:
        raise ValueError(f"{total.numel()} values for {len(keys)} metrics and a count of tokens")
    dist.all_reduce(total, group=dp_with_cp_group)
    tokens, *sums = total.tolist()
    share = cp_size / tokens if calculate_per_token_loss else 1 / step_global_batch_size
    return {key: value * share for key, value in zip(keys, sums, strict=True)}


def rollout_log_metric_contribution(
    per_rank_reducer_sum: float, *, cp_size: int, num_rollouts_in_rollout: int, dp_size: int
) -> tuple[float, float]:
    """A rank's sum and count of a mean over rollouts: over all DP x CP ranks the counts make cp x rollouts, as the sums do."""
    return cp_size * per_rank_reducer_sum, num_rollouts_in_rollout / dp_size


def reduce_log_dicts(ranks: Sequence[Mapping[str, Value]]) -> dict[str, float]:
    """Sums over counts where a rank gave both, else the mean of the ranks."""
    return {name: _reduce([rank[name] for rank in ranks]) for name in ranks[0]}


def _reduce(values: Sequence[Value]) -> float:
    pairs = [value for value in values if isinstance(value, tuple)]
    if not pairs:
        return mean(values)  # type: ignore[arg-type]
    count = sum(pair[1] for pair in pairs)
    return sum(pair[0] for pair in pairs) / count if count else 0.0


def gather_and_reduce_log_dict(
    log_dict: Mapping[str, Value], *, dp_size: int, dp_src_rank: int, dp_group: "dist.ProcessGroup"
) -> dict[str, float] | None:
    """The ranks' figures made one, on rank `dp_src_rank`; None elsewhere. A collective."""
    import torch.distributed as dist

    gathered: list[Any] | None = [None] * dp_size if dist.get_rank() == dp_src_rank else None
    dist.gather_object(dict(log_dict), gathered, dst=dp_src_rank, group=dp_group)
    return None if gathered is None else reduce_log_dicts(gathered)


def multi_turn_metrics(
    args: Namespace, loss_masks: Sequence[Sequence[int]], rounds: Sequence[int] = ()
) -> dict[str, float]:
    """Lengths with and without what tools said, and rounds, of conversations with several turns."""
    metrics = {}
    for family, lengths in (
        ("raw_response_length", [len(mask) for mask in loss_masks]),
        ("wo_obs_response_length", [int(sum(mask)) for mask in loss_masks]),
    ):
        metrics |= dict_add_prefix(_mean_max_min(lengths), f"{family}/response_length_")
    whole = [len(mask) >= args.rollout_max_response_len for mask in loss_masks]
    metrics["raw_response_length/response_length_clip_ratio"] = mean(whole)
    return metrics | dict_add_prefix(_mean_max_min(rounds), "multi_turn_metric/round_number_")


def _mean_max_min(values: Sequence[int]) -> dict[str, float]:
    return {"mean": mean(values), "max": float(max(values)), "min": float(min(values))} if values else {}


def log_passrate(rollout_id: int, args: Namespace, rollout_data: Mapping[str, Any]) -> dict[str, float]:
    """Log pass@k of a rollout's raw rewards, group after group."""
    found = compute_pass_rate(rollout_data["raw_reward"], args.n_samples_per_prompt, args.rollout_batch_size)
    return _log(rollout_id, args, dict_add_prefix(found, "passrate/"))


def log_perf_data(
    rollout_id: int, args: Namespace, times: Mapping[str, float], seq_lens: Sequence[int] = ()
) -> dict[str, float]:
    """Log what a step's stretches took, in seconds by name, and the speed of `actor_train` over `seq_lens` tokens."""
    return _log(rollout_id, args, perf_metrics(times, seq_lens))


def perf_metrics(times: Mapping[str, float], seq_lens: Sequence[int] = ()) -> dict[str, float]:
    """`perf/NAME_time` for each, and what follows: tokens a second, the whole step, and the share of it spent waiting."""
    metrics = {f"perf/{name}_time": seconds for name, seconds in times.items()}
    if seq_lens and times.get("actor_train", 0.0) > 0:
        metrics["perf/actor_train_tok_per_s"] = sum(seq_lens) / times["actor_train"]
    whole = times.get("train_wait", 0.0) + times.get("train", 0.0)
    if {"train_wait", "train"} <= times.keys() and whole > 0:
        metrics |= {"perf/step_time": whole, "perf/wait_time_ratio": times["train_wait"] / whole}
    return metrics


def _log(rollout_id: int, args: Namespace, metrics: Mapping[str, float]) -> dict[str, float]:
    whole = dict(metrics) | {"rollout/step": compute_rollout_step(args, rollout_id)}
    logging_utils.log(args, whole, step_key="rollout/step")
    return whole
