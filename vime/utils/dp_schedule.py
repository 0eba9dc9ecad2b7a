"""Which rank takes which sample in which micro-batch: pack first, deal afterwards.

Pure and deterministic, so that every rank computes the same schedule from the same lengths. What holds for each update:
samples of one rollout stay in it; every rank has the same number of micro-batches, unless each holds one sample and their
number does not divide; a micro-batch holds at most the budget of tokens, but for a longer sample, which stands alone; every
sample is placed exactly once.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vime.utils.seqlen_balancing import (
    best_fit_pack,
    expand_bins_by_splitting,
    get_seqlen_balanced_partitions,
)


class TooFewSamples(ValueError):
    """An update has fewer samples than ranks (times what the pipeline asks for), so some rank would have none."""


@dataclass(frozen=True)
class Update:
    """One update: `ranks[r]` are the micro-batches of rank r, each a tuple of positions in the rollout's batch."""

    ranks: tuple[tuple[tuple[int, ...], ...], ...]
    rollouts: int
    """Rollouts in it, of all ranks: what a mean over rollouts divides by."""

    @property
    def samples(self) -> tuple[int, ...]:
        """Positions of all its samples, in order."""
        return tuple(sorted(i for rank in self.ranks for micro_batch in rank for i in micro_batch))


def split_into_updates(rollout_ids: Sequence[int], global_batch_size: int) -> list[list[int]]:
    """Positions of each update's samples: `global_batch_size` rollouts an update, in order of first occurrence.

    Where they do not divide, the updates differ by one rollout at most and none is left out.
    """
    rollouts: dict[int, list[int]] = {}
    for position, rollout_id in enumerate(rollout_ids):
        rollouts.setdefault(rollout_id, []).append(position)
    groups = list(rollouts.values())
    updates = max(1, len(groups) // global_batch_size)
    share, extra = divmod(len(groups), updates)
    bounds = [share * n + min(n, extra) for n in range(updates + 1)]
    return [[i for group in groups[a:b] for i in group] for a, b in itertools.pairwise(bounds)]


def schedule(
    lengths: Sequence[int],
    rollout_ids: Sequence[int],
    *,
    ranks: int,
    global_batch_size: int,
    budget: int | None,
    micro_batch_size: int = 1,
    align: int = 1,
    balance: bool = True,
    weights: Sequence[int] | None = None,
) -> tuple[Update, ...]:
    """The updates of one rollout batch.

    `budget` is in tokens a micro-batch; None packs `micro_batch_size` samples each instead. `align` divides the number of
    micro-batches a rank. `weights` is what ranks are balanced by (tokens when None); without `balance` they are only
    dealt in turn. Raises TooFewSamples.
    """
    weights = lengths if weights is None else weights
    updates = []
    for positions in split_into_updates(rollout_ids, global_batch_size):
        bins = [[positions[i] for i in one] for one in _pack([lengths[i] for i in positions], budget, micro_batch_size)]
        wanted = -(-len(bins) // (ranks * align)) * ranks * align
        expand_bins_by_splitting(bins, wanted, lengths)
        if len(bins) < (ranks if align == 1 else wanted):
            raise TooFewSamples(
                f"update {len(updates)} has {len(positions)} samples for {ranks} ranks of {align} micro-batches at least: "
                f"raise --global-batch-size, or use fewer ranks"
            )
        dealt = _deal(bins, [sum(weights[i] for i in one) for one in bins], ranks, balance)
        updates.append(Update(dealt, rollouts=len({rollout_ids[i] for i in positions})))
    return tuple(updates)


def build_dp_schedule(
    args: Any,
    train_parallel_config: Mapping[str, int],
    total_lengths: Sequence[int],
    *,
    global_batch_size: int,
    rollout_indices: Sequence[int],
) -> tuple[list[list[int]], list[list[list[int]]], list[int], list[int]]:
    """Upstream's form of `schedule`: (positions of each rank, its micro-batches as indices into those, micro-batches a
    rank of each update, rollouts of each update).

    It cannot say that ranks have different numbers of micro-batches: TooFewSamples then.
    """
    updates = updates_of_batch(
        args, train_parallel_config, total_lengths, global_batch_size=global_batch_size, rollout_indices=rollout_indices
    )
    ranks = train_parallel_config["dp_size"]
    if any(len({len(mine) for mine in update.ranks}) > 1 for update in updates):
        raise TooFewSamples(
            "an update's samples fill one micro-batch each and cannot be dealt to the ranks in equal numbers"
        )
    partitions: list[list[int]] = [[] for _ in range(ranks)]
    micro_batches: list[list[list[int]]] = [[] for _ in range(ranks)]
    for update in updates:
        for rank, mine in enumerate(update.ranks):
            for one in mine:
                start = len(partitions[rank])
                partitions[rank].extend(one)
                micro_batches[rank].append(list(range(start, start + len(one))))
    return partitions, micro_batches, [len(u.ranks[0]) for u in updates], [u.rollouts for u in updates]


def updates_of_batch(
    args: Any,
    train_parallel_config: Mapping[str, int],
    total_lengths: Sequence[int],
    *,
    global_batch_size: int,
    rollout_indices: Sequence[int],
) -> tuple[Update, ...]:
    """`schedule` by what `args` and the layout say.

    Reads `use_dynamic_batch_size`, `max_tokens_per_gpu`, `micro_batch_size`, `balance_data`, `balance_by_flops` of `args`
    and `dp_size`, `cp_size`, `vpp_size`, `microbatch_group_size_per_vp_stage` of `train_parallel_config`.
    """
    pipelined = train_parallel_config.get("vpp_size", 1) > 1
    return schedule(
        total_lengths,
        rollout_indices,
        ranks=train_parallel_config["dp_size"],
        global_batch_size=global_batch_size,
        budget=token_budget(args, train_parallel_config.get("cp_size", 1)),
        micro_batch_size=getattr(args, "micro_batch_size", None) or 1,
        align=train_parallel_config["microbatch_group_size_per_vp_stage"] if pipelined else 1,
        balance=bool(getattr(args, "balance_data", False)),
        weights=_calculate_workloads(total_lengths, args) if getattr(args, "balance_by_flops", False) else None,
    )


def token_budget(args: Any, cp_size: int = 1) -> int | None:
    """Tokens of one micro-batch; None where micro-batches are counted in samples."""
    return args.max_tokens_per_gpu * cp_size if args.use_dynamic_batch_size else None


def _calculate_workloads(step_lengths: Sequence[int], args: Any) -> list[int]:
    """Work of a forward pass a sequence, in multiply-adds of one layer: matrices linear, attention quadratic in length."""
    hidden = getattr(args, "hidden_size", None) or 1024
    feed_forward = getattr(args, "ffn_hidden_size", None) or 4 * hidden
    return [length * (4 * hidden * hidden + 3 * hidden * feed_forward) + length**2 * hidden for length in step_lengths]


def _pack(lengths: Sequence[int], budget: int | None, micro_batch_size: int) -> list[list[int]]:
    if budget is not None:
        return best_fit_pack(lengths, budget)
    count = len(lengths)
    return [list(range(i, min(i + micro_batch_size, count))) for i in range(0, count, micro_batch_size)]


def _deal(
    bins: Sequence[Sequence[int]], weights: Sequence[int], ranks: int, balance: bool
) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """Micro-batches of each rank, as many for each where their number divides."""
    if balance:
        dealt = get_seqlen_balanced_partitions(weights, ranks, equal_size=len(bins) % ranks == 0)
    else:
        dealt = [list(range(rank, len(bins), ranks)) for rank in range(ranks)]
    return tuple(tuple(tuple(bins[number]) for number in mine) for mine in dealt)
