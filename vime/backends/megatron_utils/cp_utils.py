"""Reductions over samples, and upstream's names for what context parallelism splits. Sequences are whole here: a context
of several ranks is refused."""

from collections.abc import Callable, Sequence

import torch
from megatron.core import parallel_state


def get_sum_of_sample_mean(
    total_lengths: Sequence[int],
    response_lengths: Sequence[int],
    loss_masks: Sequence[torch.Tensor],
    sample_denoms: Sequence[torch.Tensor | float] | torch.Tensor | None = None,
    calculate_per_token_loss: bool = False,
) -> Callable[[torch.Tensor], torch.Tensor]:
    """A function from a value a response token, flat, to the sum over samples of (sum over unmasked tokens / denominator).

    The denominators are the samples' unmasked tokens, or `sample_denoms`: one a sample, the same for all samples of a
    rollout where it fanned out, at least 1. With `calculate_per_token_loss` there is none: the sum over tokens. What
    stands at a masked token has no effect, be it NaN.
    """
    masks = torch.cat([*loss_masks]).float() if len(loss_masks) else torch.zeros(0)
    kept = masks > 0
    weights = masks
    if not calculate_per_token_loss:
        denominators = [one.sum() for one in loss_masks] if sample_denoms is None else sample_denoms
        denominators = torch.as_tensor([float(one) for one in denominators], device=masks.device).clamp(min=1)
        counts = torch.tensor(list(response_lengths), device=masks.device)
        weights = masks / torch.repeat_interleave(denominators, counts)

    def sum_of_sample_mean(x: torch.Tensor) -> torch.Tensor:
        return (torch.where(kept, x, 0.0) * weights).sum()

    return sum_of_sample_mean


def context_parallel_size() -> int:
    """Ranks that share each sequence."""
    return parallel_state.get_context_parallel_world_size() if parallel_state.model_parallel_is_initialized() else 1


def require_whole_sequences() -> None:
    """Raise NotImplementedError where ranks share sequences."""
    if context_parallel_size() > 1:
        raise NotImplementedError("sequences are not split over ranks: set --context-parallel-size 1")


def get_logits_and_tokens_offset_with_cp(
    total_length: int, response_length: int
) -> tuple[int, tuple[tuple[int, int], ...], tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]:
    """(chunk size, this rank's two chunks, its rows of logits, its response tokens), as half-open ranges from the
    prompt's start. Each sequence is cut into two chunks a rank: rank r has chunk r and the r-th from the end."""
    ranks = context_parallel_size()
    rank = parallel_state.get_context_parallel_rank() if ranks > 1 else 0
    size = -(-total_length // (2 * ranks))
    chunks = tuple((number * size, (number + 1) * size) for number in (rank, 2 * ranks - 1 - rank))
    first = total_length - response_length - 1
    logits = tuple(_range(max(start, first), min(end, total_length - 1)) for start, end in chunks)
    return size, chunks, logits, tuple((start + 1, end + 1) if end else (0, 0) for start, end in logits)


def all_gather_with_cp(tensor: torch.Tensor, total_length: int, response_length: int) -> torch.Tensor:
    """The values of all of a sample's response tokens."""
    require_whole_sequences()
    return tensor


def slice_with_cp(tokens: torch.Tensor, pad_value: object) -> torch.Tensor:
    """This rank's part of a sequence."""
    require_whole_sequences()
    return tokens


def slice_log_prob_with_cp(log_prob: torch.Tensor, total_length: int, response_length: int) -> torch.Tensor:
    """This rank's part of the values of a sample's response tokens."""
    require_whole_sequences()
    return log_prob


def _range(start: int, end: int) -> tuple[int, int]:
    return (start, end) if start < end else (0, 0)
