"""Advantages and returns of a rank's share, by the estimator that `args` name."""

from argparse import Namespace

import torch
from megatron.core import parallel_state

from vime.learning.kl import compute_approx_kl
from vime.learning.returns import (
    distributed_masked_whiten,
    get_grpo_returns,
    get_reinforce_plus_plus_baseline_advantages,
    get_reinforce_plus_plus_returns,
)
from vime.utils.misc import load_function
from vime.utils.types import RolloutBatch


def compute_advantages_and_returns(args: Namespace, rollout_data: RolloutBatch) -> None:
    """Add the columns `kl`, `advantages` and `returns` ([R] float32 a sample) to a share, in place.

    Rewards are normalised by group already, where the options ask for it. The KL to the reference lowers the reward of
    its token by `args.kl_coef`, with every estimator. Whitening is over the unmasked tokens of all data-parallel ranks.
    Raises NotImplementedError for an estimator that needs a critic.
    """
    rollout_data["kl"] = kl = _kl(args, rollout_data)
    rewards, masks = rollout_data["rewards"], rollout_data["loss_masks"]
    if args.custom_advantage_function_path is not None:
        load_function(args.custom_advantage_function_path)(args, rollout_data)
        advantages, returns = rollout_data["advantages"], rollout_data["returns"]
    elif args.advantage_estimator in ("grpo", "gspo", "cispo"):
        advantages = returns = get_grpo_returns(rewards, kl, args.kl_coef)
    elif args.advantage_estimator == "reinforce_plus_plus":
        advantages = returns = get_reinforce_plus_plus_returns(
            rewards,
            kl,
            masks,
            rollout_data["response_lengths"],
            rollout_data["total_lengths"],
            args.kl_coef,
            args.gamma,
        )
    elif args.advantage_estimator == "reinforce_plus_plus_baseline":
        advantages = returns = get_reinforce_plus_plus_baseline_advantages(rewards, kl, masks, args.kl_coef)
    else:
        raise NotImplementedError(
            f"--advantage-estimator {args.advantage_estimator} needs a critic, which is not trained"
        )
    if args.normalize_advantages:
        group = parallel_state.get_data_parallel_group(with_context_parallel=True)
        white = distributed_masked_whiten(torch.cat(advantages), torch.cat(masks), process_group=group)
        advantages = list(white.split(list(rollout_data["response_lengths"])))
    rollout_data["advantages"], rollout_data["returns"] = list(advantages), list(returns)


def _kl(args: Namespace, rollout_data: RolloutBatch) -> list[torch.Tensor]:
    """The KL of the policy to the reference a token, where it counts in the reward; else zeros."""
    masks = rollout_data["loss_masks"]
    if args.kl_coef == 0:
        every = torch.cat([*masks])
        return list(torch.zeros_like(every).split(list(rollout_data["response_lengths"])))
    current = rollout_data["rollout_log_probs"] if args.use_rollout_logprobs else rollout_data["log_probs"]
    reference = rollout_data["ref_log_probs"]
    return [
        torch.where(mask > 0, compute_approx_kl(one, base, args.kl_loss_type), 0.0)
        for one, base, mask in zip(current, reference, masks, strict=True)
    ]
