"""Estimates of the KL divergence from logprobs of sampled tokens."""

from typing import Literal

import torch

KlType = Literal["k1", "k2", "k3", "low_var_kl"]
_CLAMP = 10.0


def compute_approx_kl(
    log_probs: torch.Tensor,
    log_probs_base: torch.Tensor,
    kl_loss_type: KlType | str,
    importance_ratio: torch.Tensor | None = None,
) -> torch.Tensor:
    """An estimate a token of KL(policy || base), in nats, float32, of the tensors' shape.

    With d = log_probs - log_probs_base: k1 is d, k2 is d^2/2, k3 is exp(-d) - 1 + d (Schulman, "Approximating KL
    divergence", 2020), low_var_kl is k3 held within +-10. `importance_ratio`, policy over the policy that sampled, makes
    the gradient unbiased for samples of an older policy. Raises ValueError for another type.
    """
    difference = log_probs.float() - log_probs_base.float()
    if kl_loss_type == "low_var_kl":
        difference = difference.clamp(
            min=-2 * _CLAMP
        )  # above the bound already; beyond exp is infinite, and inf * 0 NaN
    if kl_loss_type == "k1":
        kl = difference
    elif kl_loss_type == "k2":
        kl = difference.square() / 2
    elif kl_loss_type in ("k3", "low_var_kl"):
        kl = torch.expm1(-difference) + difference
    else:
        raise ValueError(f"there is no KL estimator {kl_loss_type!r}: choose k1, k2, k3 or low_var_kl")
    if importance_ratio is not None:
        kl = importance_ratio * kl
    return kl.clamp(-_CLAMP, _CLAMP) if kl_loss_type == "low_var_kl" else kl
