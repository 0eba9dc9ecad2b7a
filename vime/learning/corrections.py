"""Weights for the difference between the engine that sampled and the trainer that learns.

Functions of upstream's shape, as `--custom-tis-function-path` names them: (loss a token, masks, metrics a token).
"""

from collections.abc import Sequence
from typing import Any

import torch

Corrected = tuple[torch.Tensor, Sequence[torch.Tensor], dict[str, torch.Tensor]]


def vanilla_tis_function(
    args: Any,
    *,
    pg_loss: torch.Tensor,
    train_log_probs: Sequence[torch.Tensor],
    rollout_log_probs: Sequence[torch.Tensor],
    loss_masks: Sequence[torch.Tensor],
    **kwargs: Any,
) -> Corrected:
    """Truncated importance sampling (Yao et al. 2025): each token's loss times its ratio trainer / engine, held between
    `args.tis_clip_low` and `args.tis_clip`."""
    ratio = _ratio(train_log_probs, rollout_log_probs, loss_masks)
    weight = ratio.clamp(args.tis_clip_low, args.tis_clip)
    return pg_loss * weight, loss_masks, _figures(ratio, weight)


def icepop_function(
    args: Any,
    *,
    pg_loss: torch.Tensor,
    train_log_probs: Sequence[torch.Tensor],
    rollout_log_probs: Sequence[torch.Tensor],
    loss_masks: Sequence[torch.Tensor],
    **kwargs: Any,
) -> Corrected:
    """IcePop (Ling-1T, 2025): like the truncation, but a token whose ratio is out of bounds counts 0."""
    ratio = _ratio(train_log_probs, rollout_log_probs, loss_masks)
    weight = torch.where((ratio >= args.tis_clip_low) & (ratio <= args.tis_clip), ratio, 0.0)
    return pg_loss * weight, loss_masks, _figures(ratio, weight)


def _ratio(
    train: Sequence[torch.Tensor], rollout: Sequence[torch.Tensor], masks: Sequence[torch.Tensor]
) -> torch.Tensor:
    """Trainer over engine, flat; 1 where masked, whatever stands there."""
    difference = torch.cat([*train]).detach() - torch.cat([*rollout])
    return torch.where(torch.cat([*masks]) > 0, difference, 0.0).exp()


def _figures(ratio: torch.Tensor, weight: torch.Tensor) -> dict[str, torch.Tensor]:
    return {"tis": ratio, "tis_clipfrac": (weight != ratio).float(), "tis_abs": (ratio - 1).abs()}
