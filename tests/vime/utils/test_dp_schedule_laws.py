"""Laws of the schedule: what fits, who gets what, and that nothing is lost."""

from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vime.utils.dp_schedule import TooFewSamples, build_dp_schedule, schedule, split_into_updates
from vime.utils.seqlen_balancing import (
    best_fit_pack,
    expand_bins_by_splitting,
    first_fit_pack,
    get_reverse_idx,
    get_seqlen_balanced_partitions,
    greedy_partition,
    karmarkar_karp,
)

lengths = st.lists(st.integers(1, 50), min_size=1, max_size=40)


@given(lengths, st.integers(1, 80))
@settings(max_examples=60)
def test_bins_hold_everything_once_within_the_budget(given: list[int], budget: int) -> None:
    bins = best_fit_pack(given, budget)
    assert sorted(i for one in bins for i in one) == list(range(len(given)))
    for one in bins:
        assert sum(given[i] for i in one) <= budget or len(one) == 1
    assert first_fit_pack(given, budget) == bins
    longest = max(given)
    bound = -(-sum(given) // budget)
    if longest <= budget:
        assert len(bins) <= 11 / 9 * max(bound, _fewest(given, budget)) + 1


def _fewest(given: list[int], budget: int) -> int:
    """A lower bound: sequences of more than half the budget share no bin."""
    return sum(1 for length in given if 2 * length > budget)


def test_packing_is_close_to_the_bound() -> None:
    import random

    chance = random.Random(0)
    given = [chance.randint(1, 1000) for _ in range(2000)]
    assert len(best_fit_pack(given, 4096)) <= -(-sum(given) // 4096) + 2


@given(lengths, st.integers(1, 6))
@settings(max_examples=60)
def test_partitions_are_balanced_and_none_is_empty(given: list[int], ranks: int) -> None:
    if len(given) < ranks:
        with pytest.raises(ValueError, match="too few"):
            get_seqlen_balanced_partitions(given, ranks, equal_size=False)
        return
    for partition in (karmarkar_karp, greedy_partition, get_seqlen_balanced_partitions):
        parts = partition(given, ranks, False)
        assert sorted(i for part in parts for i in part) == list(range(len(given)))
        assert all(parts)
        sums = [sum(given[i] for i in part) for part in parts]
        assert max(sums) - min(sums) <= max(given)
    whole = given[: len(given) // ranks * ranks]
    for partition in (karmarkar_karp, greedy_partition):
        assert {len(part) for part in partition(whole, ranks, True)} == {len(whole) // ranks}


def test_unequal_numbers_cannot_be_dealt_equally() -> None:
    with pytest.raises(ValueError, match="equal numbers"):
        karmarkar_karp([1, 2, 3], 2, equal_size=True)


def test_the_heaviest_bin_is_split_as_long_as_one_can_be() -> None:
    bins = [[0, 1, 2], [3]]
    expand_bins_by_splitting(bins, 3, [5, 4, 3, 20])
    assert sorted(map(sorted, bins)) == [[0], [1, 2], [3]]
    expand_bins_by_splitting(bins, 9, [5, 4, 3, 20])
    assert sorted(map(sorted, bins)) == [[0], [1], [2], [3]]


def test_reverse_index() -> None:
    assert get_reverse_idx([2, 0, 1]) == [1, 2, 0]


@given(
    given=st.lists(st.tuples(st.integers(1, 50), st.integers(0, 9)), min_size=4, max_size=40),
    ranks=st.integers(1, 3),
    batch=st.integers(1, 8),
    budget=st.none() | st.integers(10, 120),
    balance=st.booleans(),
)
@settings(max_examples=60)
def test_every_rank_has_as_many_micro_batches_and_every_sample_has_a_place(
    given: list[tuple[int, int]], ranks: int, batch: int, budget: int | None, balance: bool
) -> None:
    sizes, rollouts = [one[0] for one in given], [one[1] for one in given]
    try:
        updates = schedule(
            sizes,
            rollouts,
            ranks=ranks,
            global_batch_size=batch,
            budget=budget,
            micro_batch_size=2,
            balance=balance,
        )
    except TooFewSamples:
        assert min(len(one) for one in split_into_updates(rollouts, batch)) < ranks
        return
    assert sorted(i for update in updates for i in update.samples) == list(range(len(given)))
    assert sum(update.rollouts for update in updates) == len(set(rollouts))
    of_rollout: dict[int, set[int]] = {}
    for number, update in enumerate(updates):
        alone = all(len(one) == 1 for rank in update.ranks for one in rank)
        assert len({len(rank) for rank in update.ranks}) == 1 or (alone and len(update.samples) % ranks)
        for rank in update.ranks:
            for one in rank:
                assert one
                assert budget is None or sum(sizes[i] for i in one) <= budget or len(one) == 1
        for i in update.samples:
            of_rollout.setdefault(rollouts[i], set()).add(number)
    assert all(len(where) == 1 for where in of_rollout.values()), "a rollout's samples are in one update"
    sizes_of_updates = [update.rollouts for update in updates]
    assert max(sizes_of_updates) - min(sizes_of_updates) <= 1


def test_upstreams_form_says_the_same() -> None:
    args = SimpleNamespace(
        use_dynamic_batch_size=True, max_tokens_per_gpu=30, balance_data=True, balance_by_flops=True, micro_batch_size=1
    )
    layout = {"dp_size": 2, "cp_size": 1, "vpp_size": 2, "microbatch_group_size_per_vp_stage": 2}
    sizes = [10, 20, 5, 25, 30, 12, 18, 7]
    parts, micro, counts, rollouts = build_dp_schedule(
        args, layout, sizes, global_batch_size=4, rollout_indices=list(range(8))
    )
    assert rollouts == [4, 4] and all(count % 2 == 0 for count in counts)
    assert sorted(parts[0] + parts[1]) == list(range(8))
    for own, batches in zip(parts, micro):
        assert [i for one in batches for i in one] == list(range(len(own)))
        assert len(batches) == sum(counts)


def test_too_few_samples_say_what_to_do() -> None:
    with pytest.raises(TooFewSamples, match="global-batch-size"):
        schedule([5, 5], [0, 1], ranks=4, global_batch_size=2, budget=10)
