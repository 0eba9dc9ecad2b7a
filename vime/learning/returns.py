"""Rewards into returns and advantages a token, and the whitening of advantages."""

from collections.abc import Sequence

import torch
import torch.distributed as dist


def get_grpo_returns(
    rewards: torch.Tensor | Sequence[float], kl: Sequence[torch.Tensor], kl_coef: float = 0.0
) -> list[torch.Tensor]:
    """Each sample's reward at each of its tokens (GRPO, arXiv 2402.03300), less `kl_coef` times the token's KL."""
    pairs = zip(kl, rewards, strict=True)
    if kl_coef == 0:
        return [torch.full_like(one, float(reward)) for one, reward in pairs]
    return [float(reward) - kl_coef * one for one, reward in pairs]


def get_reinforce_plus_plus_returns(
    rewards: torch.Tensor | Sequence[float],
    kl: Sequence[torch.Tensor],
    loss_masks: Sequence[torch.Tensor],
    response_lengths: Sequence[int],
    total_lengths: Sequence[int],
    kl_coef: float,
    gamma: float,
) -> list[torch.Tensor]:
    """Discounted returns of REINFORCE++ (arXiv 2501.03262): -kl_coef KL at each unmasked token, and the reward at the
    last unmasked one. A sample without an unmasked token has returns of 0."""
    if not len(kl):
        return []
    rows = torch.zeros(len(kl), max(len(one) for one in kl), dtype=torch.float32, device=kl[0].device)
    for row, one, mask, reward in zip(rows, kl, loss_masks, rewards, strict=True):
        row[: len(one)] = torch.where(mask > 0, -kl_coef * one, 0.0)
        trained = (mask > 0).nonzero()[:, 0]
        if len(trained):
            row[trained[-1]] += float(reward)
    return [row[: len(one)] for row, one in zip(chunked_discounted_returns(rows, gamma), kl)]


def get_reinforce_plus_plus_baseline_advantages(
    rewards: torch.Tensor | Sequence[float],
    kl: Sequence[torch.Tensor],
    loss_masks: Sequence[torch.Tensor],
    kl_coef: float,
) -> list[torch.Tensor]:
    """The reward, from which the group's mean is taken already, at each token, less kl_coef KL (REINFORCE++-baseline)."""
    return get_grpo_returns(rewards, kl, kl_coef)


def chunked_discounted_returns(rewards: torch.Tensor, discount: float, chunk_size: int = 128) -> torch.Tensor:
    """sum over s >= t of discount^(s - t) rewards[:, s], for rewards [B, T].

    By doubling (Hillis and Steele 1986): log2 T passes over the whole array, none of them sequential. `chunk_size` is
    upstream's and has no effect.
    """
    returns, step, factor = rewards.clone(), 1, discount
    while step < returns.shape[1] and factor != 0:
        returns[:, :-step] += factor * returns[:, step:].clone()
        step, factor = 2 * step, factor * factor
    return returns


def chunked_gae(
    rewards: torch.Tensor, values: torch.Tensor, gamma: float, lambd: float, chunk_size: int = 128
) -> tuple[torch.Tensor, torch.Tensor]:
    """(advantages, returns) [B, T] of generalised advantage estimation (arXiv 1506.02438); the value after the end is 0."""
    following = torch.nn.functional.pad(values[:, 1:], (0, 1))
    advantages = chunked_discounted_returns(rewards + gamma * following - values, gamma * lambd)
    return advantages, advantages + values


def vanilla_gae(
    rewards: torch.Tensor, values: torch.Tensor, gamma: float, lambd: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """The same under upstream's other name."""
    return chunked_gae(rewards, values, gamma, lambd)


def distributed_masked_whiten(
    values: torch.Tensor,
    mask: torch.Tensor,
    process_group: dist.ProcessGroup | None = None,
    shift_mean: bool = True,
    epsilon: float = 1e-8,
) -> torch.Tensor:
    """Values of mean 0 (kept with `shift_mean` False) and variance 1 over the unmasked tokens of all ranks of the group.

    Masked tokens enter no sum and come back 0. Sums are float64; the variance is the sample's (n - 1). Every rank of the
    group must call, also one without a token.
    """
    kept = torch.where(mask > 0, values.double(), 0.0)
    sums = torch.stack(((mask > 0).sum().double(), kept.sum()))
    _sum_over(sums, process_group)
    count, mean = sums[0].clamp(min=1), sums[1] / sums[0].clamp(min=1)
    squares = torch.where(mask > 0, (kept - mean).square(), 0.0).sum()
    _sum_over(squares, process_group)
    scale = (squares / (count - 1).clamp(min=1) + epsilon).rsqrt()
    white = (kept - mean) * scale + (0.0 if shift_mean else mean)
    return torch.where(mask > 0, white, 0.0).to(values.dtype)


def _sum_over(tensor: torch.Tensor, group: dist.ProcessGroup | None) -> None:
    if dist.is_available() and dist.is_initialized():
        dist.all_reduce(tensor, group=group)
