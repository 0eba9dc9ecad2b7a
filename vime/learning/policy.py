"""Losses a token of policy-gradient methods. `ppo_kl` is old minus new logprob, so that the ratio is exp(-ppo_kl)."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor


def compute_policy_loss(
    ppo_kl: Tensor, advantages: Tensor, eps_clip: float, eps_clip_high: float, eps_clip_c: float | None = None
) -> tuple[Tensor, Tensor]:
    """(loss, whether the clip was active as 0 or 1) a token: the clipped surrogate of PPO (arXiv 1707.06347).

    -min(ratio A, clip(ratio, 1 - eps_clip, 1 + eps_clip_high) A), with bounds of their own on either side (clip-higher,
    DAPO, arXiv 2503.14476). `eps_clip_c` > 1 bounds the loss of a negative advantage by -eps_clip_c A (dual clip, arXiv
    1912.09729).
    """
    ratio = (-ppo_kl).exp()
    plain = -ratio * advantages
    clipped = -ratio.clamp(1 - eps_clip, 1 + eps_clip_high) * advantages
    loss = torch.maximum(plain, clipped)
    if eps_clip_c is not None:
        if eps_clip_c <= 1:
            raise ValueError(f"the bound of dual clipping must be above 1, not {eps_clip_c}")
        loss = torch.where(advantages < 0, torch.minimum(loss, -eps_clip_c * advantages), loss)
    return loss, (clipped > plain).float()


def compute_cispo_loss(
    ppo_kl: Tensor, log_probs: Tensor, advantages: Tensor, eps_clip: float, eps_clip_high: float
) -> tuple[Tensor, Tensor]:
    """(loss, whether the ratio was clipped as 0 or 1) a token: CISPO (MiniMax-M1, arXiv 2506.13585, eq. 4 and 5).

    The clipped ratio is a constant weight of A log_prob: a token out of bounds still has a gradient.
    """
    ratio = (-ppo_kl).exp().detach()
    weight = ratio.clamp(1 - eps_clip, 1 + eps_clip_high)
    return -weight * advantages * log_probs, (weight != ratio).float()


def sequence_mean(values: Tensor, masks: Tensor, lengths: Sequence[int]) -> Tensor:
    """The mean over each sequence's unmasked tokens, [sequences]; 0 where there is none. `values` and `masks` are flat."""
    owner = torch.repeat_interleave(torch.arange(len(lengths)), torch.tensor(lengths)).to(values.device)
    kept = torch.where(masks > 0, values, 0.0)
    sums = values.new_zeros(len(lengths)).index_add(0, owner, kept)
    counts = values.new_zeros(len(lengths)).index_add(0, owner, (masks > 0).to(values.dtype))
    return sums / counts.clamp(min=1)


def spread_over_tokens(values: Tensor, lengths: Sequence[int]) -> Tensor:
    """A value a sequence as a value a token, flat."""
    return torch.repeat_interleave(values, torch.tensor(lengths, device=values.device))


def compute_gspo_kl(
    full_log_probs: Sequence[Tensor],
    full_old_log_probs: Sequence[Tensor],
    local_log_probs: Sequence[Tensor],
    loss_masks: Sequence[Tensor],
) -> Tensor:
    """`ppo_kl` of GSPO (arXiv 2507.18071), flat: each token has its sequence's mean, so that the ratio is the sequence's."""
    lengths = [len(one) for one in full_log_probs]
    mean = sequence_mean(
        torch.cat([*full_old_log_probs]) - torch.cat([*full_log_probs]), torch.cat([*loss_masks]), lengths
    )
    return spread_over_tokens(mean, [len(one) for one in local_log_probs])


def compute_opsm_mask(
    args: Any,
    full_log_probs: Sequence[Tensor],
    full_old_log_probs: Sequence[Tensor],
    advantages: Sequence[Tensor],
    loss_masks: Sequence[Tensor],
) -> tuple[Tensor, Tensor]:
    """(0 or 1 a token, share of masked tokens summed over sequences): off-policy sequence masking (DeepSeek-V3.2, arXiv
    2512.02556).

    A token of negative advantage counts 0 where its sequence's mean KL to the old policy is above `args.opsm_delta`.
    """
    lengths = [len(one) for one in full_log_probs]
    masks, flat = torch.cat([*loss_masks]), torch.cat([*advantages])
    kl = sequence_mean(torch.cat([*full_old_log_probs]) - torch.cat([*full_log_probs]), masks, lengths).detach()
    off = ((flat < 0) & (spread_over_tokens(kl, lengths) > args.opsm_delta)).float()
    return 1 - off, sequence_mean(off, masks, lengths).sum()
