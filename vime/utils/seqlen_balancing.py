"""Sequences into bins: as few as a budget of tokens allows, or a given number of equal weight.

Pure and deterministic: the same lengths give the same bins on every rank, so that ranks need not talk about them.
"""

import heapq
from bisect import bisect_left, insort
from collections.abc import Sequence


def best_fit_pack(lengths: Sequence[int], budget: int) -> list[list[int]]:
    """Bins of positions whose lengths add up to `budget` at most; a longer sequence stands alone.

    Best fit, longest first: at most 11/9 of the fewest bins plus one (Johnson 1974), in O(n log n) comparisons. Bins and
    the positions in them are in order of position.
    """
    bins: list[list[int]] = []
    room: list[tuple[int, int]] = []  # (tokens free, bin), sorted
    for position in sorted(range(len(lengths)), key=lambda i: (-lengths[i], i)):
        length = lengths[position]
        found = bisect_left(room, (length, -1))
        if found < len(room):
            free, number = room.pop(found)
            bins[number].append(position)
        else:
            free, number = budget, len(bins)
            bins.append([position])
        if free > length:
            insort(room, (free - length, number))
    return sorted(sorted(one) for one in bins)


def first_fit_pack(total_lengths: Sequence[int], max_tokens_per_bin: int) -> list[list[int]]:
    """Upstream's name of packing by a budget; see `best_fit_pack`."""
    return best_fit_pack(total_lengths, max_tokens_per_bin)


def expand_bins_by_splitting(bins: list[list[int]], target_count: int, lengths: Sequence[int]) -> None:
    """Split the heaviest bin of several sequences, in place, until there are `target_count` or each holds one."""
    while len(bins) < target_count:
        splittable = [number for number, one in enumerate(bins) if len(one) > 1]
        if not splittable:
            return
        heaviest = max(splittable, key=lambda number: (sum(lengths[i] for i in bins[number]), -number))
        inside = [lengths[i] for i in bins[heaviest]]
        first, second = ([bins[heaviest][i] for i in half] for half in karmarkar_karp(inside, 2, equal_size=False))
        bins[heaviest] = first
        bins.append(second)


def karmarkar_karp(seqlen_list: Sequence[int], k_partitions: int, equal_size: bool) -> list[list[int]]:
    """`k_partitions` lists of positions of nearly equal weight, by largest differencing (Karmarkar and Karp 1982).

    With `equal_size` each list has as many positions; ValueError where that cannot be. Each is in order of position.
    """
    if equal_size and len(seqlen_list) % k_partitions:
        raise ValueError(f"{len(seqlen_list)} sequences cannot be dealt to {k_partitions} in equal numbers")
    order = sorted(range(len(seqlen_list)), key=lambda i: (-seqlen_list[i], i))
    step = k_partitions if equal_size else 1
    heap = []
    for number, start in enumerate(range(0, len(order), step)):
        parts = [(seqlen_list[i], [i]) for i in order[start : start + step]]
        parts += [(0, [])] * (k_partitions - len(parts))
        heap.append((parts[-1][0] - parts[0][0], number, parts))
    heapq.heapify(heap)
    number = len(heap)
    while len(heap) > 1:
        _, _, one = heapq.heappop(heap)
        _, _, other = heapq.heappop(heap)
        merged = [(a + b, left + right) for (a, left), (b, right) in zip(one, reversed(other))]
        merged.sort(key=lambda part: (-part[0], part[1]))
        heapq.heappush(heap, (merged[-1][0] - merged[0][0], number, merged))
        number += 1
    return sorted(sorted(part) for _, part in heap[0][2]) if heap else [[] for _ in range(k_partitions)]


def greedy_partition(seqlen_list: Sequence[int], k_partitions: int, equal_size: bool) -> list[list[int]]:
    """The same by giving each sequence, longest first, to the lightest list (of those with room, with `equal_size`)."""
    room = len(seqlen_list) // k_partitions if equal_size else len(seqlen_list)
    parts: list[list[int]] = [[] for _ in range(k_partitions)]
    weights = [0] * k_partitions
    for i in sorted(range(len(seqlen_list)), key=lambda i: (-seqlen_list[i], i)):
        lightest = min((k for k in range(k_partitions) if len(parts[k]) < room), key=lambda k: (weights[k], k))
        parts[lightest].append(i)
        weights[lightest] += seqlen_list[i]
    return [sorted(part) for part in parts]


def get_seqlen_balanced_partitions(seqlen_list: Sequence[int], k_partitions: int, equal_size: bool) -> list[list[int]]:
    """`k_partitions` lists of positions of nearly equal weight, none of them empty. ValueError where there are too few."""
    if len(seqlen_list) < k_partitions:
        raise ValueError(f"{len(seqlen_list)} sequences are too few for {k_partitions} partitions")
    weights = [max(weight, 1) for weight in seqlen_list]
    return karmarkar_karp(weights, k_partitions, equal_size)


def get_reverse_idx(idx_map: Sequence[int]) -> list[int]:
    """The inverse of a permutation."""
    inverse = [0] * len(idx_map)
    for position, target in enumerate(idx_map):
        inverse[target] = position
    return inverse
