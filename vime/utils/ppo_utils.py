"""Upstream's names of the losses' arithmetic; it is in vime.learning."""

import torch
import torch.distributed as dist

from vime.learning.kl import compute_approx_kl
from vime.learning.logprobs import chosen_logprobs
from vime.learning.policy import compute_cispo_loss, compute_gspo_kl, compute_opsm_mask, compute_policy_loss
from vime.learning.returns import (
    chunked_discounted_returns,
    chunked_gae,
    get_grpo_returns,
    get_reinforce_plus_plus_baseline_advantages,
    get_reinforce_plus_plus_returns,
    vanilla_gae,
)

__all__ = [
    "calculate_log_probs_and_entropy",
    "chunked_discounted_returns",
    "chunked_gae",
    "compute_approx_kl",
    "compute_cispo_loss",
    "compute_gspo_kl",
    "compute_opsm_mask",
    "compute_policy_loss",
    "get_grpo_returns",
    "get_reinforce_plus_plus_baseline_advantages",
    "get_reinforce_plus_plus_returns",
    "vanilla_gae",
]


def calculate_log_probs_and_entropy(
    logits: torch.Tensor,
    tokens: torch.Tensor,
    tp_group: dist.ProcessGroup | None,
    with_entropy: bool = False,
    chunk_size: int = -1,
    log_prob_keep_mask: torch.Tensor | None = None,
    with_entropy_grad: bool = True,
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """(logprobs [N, 1], entropy [N] or None) of `tokens` [N] from logits [N, V / ranks] at temperature 1."""
    log_probs, entropy = chosen_logprobs(
        logits,
        tokens,
        group=tp_group,
        chunk=chunk_size,
        with_entropy=with_entropy,
        entropy_grad=with_entropy_grad,
        keep=log_prob_keep_mask,
    )
    return log_probs.unsqueeze(-1), entropy
