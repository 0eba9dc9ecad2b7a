"""The losses of one micro-batch, under upstream's names and in upstream's shapes. The arithmetic is in vime.learning."""

from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
from megatron.core import parallel_state

from vime.backends.megatron_utils.advantages import compute_advantages_and_returns
from vime.backends.megatron_utils.cp_utils import get_sum_of_sample_mean
from vime.backends.megatron_utils.nucleus import kept_words
from vime.backends.megatron_utils.packing import response_rows
from vime.learning.corrections import icepop_function, vanilla_tis_function
from vime.learning.kl import compute_approx_kl
from vime.learning.logprobs import chosen_logprobs
from vime.learning.policy import compute_cispo_loss, compute_gspo_kl, compute_opsm_mask, compute_policy_loss
from vime.utils.misc import load_function
from vime.utils.types import RolloutBatch

__all__ = [
    "LossTerms",
    "compute_advantages_and_returns",
    "get_log_probs_and_entropy",
    "get_responses",
    "icepop_function",
    "policy_loss_function",
    "policy_terms",
    "sft_loss_function",
    "vanilla_tis_function",
]

Reducer = Callable[[torch.Tensor], torch.Tensor]


@dataclass(frozen=True)
class LossTerms:
    """The loss of one micro-batch, summed over its samples' means: `loss` and `metrics` are scalars, metrics detached.
    `log_probs` is the policy's, detached, [R] a sample; None where the loss has none."""

    loss: torch.Tensor
    metrics: dict[str, torch.Tensor]
    log_probs: list[torch.Tensor] | None = None


def tensor_group() -> dist.ProcessGroup | None:
    """The ranks that share the vocabulary; None where it is whole."""
    if not parallel_state.model_parallel_is_initialized():
        return None
    group = parallel_state.get_tensor_model_parallel_group()
    return group if group.size() > 1 else None


def get_log_probs_and_entropy(
    logits: torch.Tensor,
    *,
    args: Namespace,
    unconcat_tokens: Sequence[torch.Tensor],
    total_lengths: Sequence[int],
    response_lengths: Sequence[int],
    with_entropy: bool = False,
    non_loss_data: bool = True,
    overwrite: bool = False,
    top_p_token_ids: Sequence[Any] | None = None,
    top_p_token_offsets: Sequence[Any] | None = None,
) -> tuple[torch.Tensor, dict[str, list[torch.Tensor]]]:
    """(empty, {"log_probs": [R] a sample, "entropy": the same}) of packed logits [1, T, V / ranks] or [T, V / ranks].

    At `args.rollout_temperature`, as the engine reports its own. The entropy has a gradient where `args.entropy_coef`
    asks for it. `overwrite` as in vime.learning.logprobs; the ids of a nucleus as in `kept_words`.
    """
    batch = {
        "unconcat_tokens": unconcat_tokens,
        "total_lengths": total_lengths,
        "response_lengths": response_lengths,
        "rollout_top_p_token_ids": top_p_token_ids,
        "rollout_top_p_token_offsets": top_p_token_offsets,
    }
    log_probs, entropy = batch_log_probs(args, logits, batch, with_entropy, overwrite)
    found = {"log_probs": list(log_probs.split(list(response_lengths)))}
    if entropy is not None:
        found["entropy"] = list(entropy.split(list(response_lengths)))
    return torch.empty(0, device=logits.device), found


def batch_log_probs(
    args: Namespace, logits: torch.Tensor, batch: RolloutBatch, with_entropy: bool = False, overwrite: bool = False
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """(logprobs, entropy or None) [N] of a micro-batch's response tokens; of the nucleus alone where there was one."""
    group = tensor_group()
    logits = logits.squeeze(0) if logits.dim() == 3 else logits
    rows, targets = _responses(batch, logits)
    return chosen_logprobs(
        logits,
        targets,
        rows=rows,
        group=group,
        temperature=args.rollout_temperature,
        chunk=args.log_probs_chunk_size,
        with_entropy=with_entropy,
        entropy_grad=with_entropy and args.entropy_coef != 0,
        overwrite=overwrite,
        vocab_size=args.vocab_size,
        keep=kept_words(batch, logits, group) if args.rollout_top_p < 1 else None,
    )


def get_responses(
    logits: torch.Tensor,
    *,
    args: Namespace,
    unconcat_tokens: Sequence[torch.Tensor],
    total_lengths: Sequence[int],
    response_lengths: Sequence[int],
    apply_temperature: bool = True,
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """(logits [R, V / ranks], tokens [R]) of each sample's response, the logits at the rollout's temperature."""
    logits = logits.squeeze(0)
    if apply_temperature and args.rollout_temperature != 1.0:
        logits = logits / args.rollout_temperature
    end = 0
    for tokens, length, response in zip(unconcat_tokens, total_lengths, response_lengths, strict=True):
        end += length
        yield logits[end - response - 1 : end - 1], tokens[length - response : length]


def policy_loss_function(
    args: Namespace, batch: RolloutBatch, logits: torch.Tensor, sum_of_sample_mean: Reducer
) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """(loss, metrics) of the policy; upstream's form of `policy_terms`."""
    terms = policy_terms(args, batch, logits, sum_of_sample_mean)
    return terms.loss, terms.metrics


def policy_terms(
    args: Namespace, batch: RolloutBatch, logits: torch.Tensor, sum_of_sample_mean: Reducer, overwrite: bool = False
) -> LossTerms:
    """The policy's loss: surrogate, its corrections, entropy bonus and KL to the reference.

    `batch` (a value a sample): `unconcat_tokens`, `total_lengths`, `response_lengths`, `loss_masks`, `advantages`, and
    `log_probs` of the old policy, which without that column are the current ones; `rollout_log_probs` and
    `ref_log_probs` where the options ask for them. What stands at a masked token has no effect.
    """
    masks = torch.cat(batch["loss_masks"])
    kept = masks > 0
    lengths = list(batch["response_lengths"])
    raw, entropy = batch_log_probs(args, logits, batch, with_entropy=True, overwrite=overwrite)
    current = torch.where(kept, raw, 0.0)
    detached = list(current.detach().split(lengths))
    trainers = _clean(batch.get("log_probs"), kept, lengths) or detached
    old = _clean(batch["rollout_log_probs"], kept, lengths) if args.use_rollout_logprobs else trainers
    advantages = torch.where(kept, torch.cat(batch["advantages"]), 0.0)

    pieces = list(current.split(lengths))
    if args.advantage_estimator == "gspo":
        ppo_kl = compute_gspo_kl(pieces, old, pieces, batch["loss_masks"])
    else:
        ppo_kl = torch.cat(old) - current
    if args.advantage_estimator == "cispo":
        pg_loss, clipped = compute_cispo_loss(ppo_kl, current, advantages, args.eps_clip, args.eps_clip_high)
    else:
        pg_loss, clipped = compute_policy_loss(
            ppo_kl, advantages, args.eps_clip, args.eps_clip_high, eps_clip_c=args.eps_clip_c
        )
    metrics: dict[str, torch.Tensor] = {}
    if args.use_opsm:
        opsm, _ = compute_opsm_mask(args, detached, old, advantages.split(lengths), batch["loss_masks"])
        metrics["opsm_clipfrac"] = sum_of_sample_mean(1 - opsm)
        pg_loss = pg_loss * opsm
    pg_loss, reduce_pg = _corrected(args, batch, pg_loss, ppo_kl, trainers, sum_of_sample_mean, metrics)

    pg_loss = reduce_pg(pg_loss)
    entropy_loss = sum_of_sample_mean(entropy)
    loss = pg_loss - args.entropy_coef * entropy_loss if args.entropy_coef else pg_loss
    if args.use_kl_loss:
        reference = torch.cat(_clean(batch["ref_log_probs"], kept, lengths))
        ratio = torch.exp(current - torch.cat(old)) if args.use_unbiased_kl else None
        kl_loss = sum_of_sample_mean(compute_approx_kl(current, reference, args.kl_loss_type, importance_ratio=ratio))
        loss = loss + args.kl_loss_coef * kl_loss
        metrics["kl_loss"] = kl_loss
    metrics |= {
        "loss": loss,
        "pg_loss": pg_loss,
        "entropy_loss": entropy_loss,
        "pg_clipfrac": sum_of_sample_mean(clipped),
        "ppo_kl": sum_of_sample_mean(ppo_kl),
    }
    return LossTerms(loss, _detached(metrics), list(raw.detach().split(lengths)))


def sft_loss_function(
    args: Namespace, batch: RolloutBatch, logits: torch.Tensor, sum_of_sample_mean: Reducer
) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """(loss, metrics): the negative logprob of the response tokens. Supervised text was not sampled: no temperature."""
    plain = Namespace(**{**vars(args), "rollout_temperature": 1.0, "rollout_top_p": 1.0})
    log_probs, _ = batch_log_probs(plain, logits, batch)
    loss = -sum_of_sample_mean(log_probs)
    return loss, _detached({"loss": loss})


def _corrected(
    args: Namespace,
    batch: RolloutBatch,
    pg_loss: torch.Tensor,
    ppo_kl: torch.Tensor,
    trainers: list[torch.Tensor],
    sum_of_sample_mean: Reducer,
    metrics: dict[str, torch.Tensor],
) -> tuple[torch.Tensor, Reducer]:
    """The loss a token with importance sampling, and how it is reduced: by the user's function, or with the masks that
    the correction left. Denominators stay those of the whole update."""
    masks, reduce = batch["loss_masks"], sum_of_sample_mean
    if args.use_tis or args.get_mismatch_metrics:
        function = vanilla_tis_function
        if args.custom_tis_function_path is not None:
            function = load_function(args.custom_tis_function_path)
        corrected, masks, figures = function(
            args=args,
            pg_loss=pg_loss,
            train_log_probs=trainers,
            rollout_log_probs=batch["rollout_log_probs"],
            loss_masks=batch["loss_masks"],
            total_lengths=batch["total_lengths"],
            response_lengths=batch["response_lengths"],
        )
        pg_loss = corrected
        metrics |= {name: sum_of_sample_mean(value) for name, value in figures.items()}
        metrics["ois"] = sum_of_sample_mean((-ppo_kl).exp())
        reduce = get_sum_of_sample_mean(
            batch["total_lengths"],
            batch["response_lengths"],
            masks,
            batch.get("rollout_mask_sums"),
            args.calculate_per_token_loss,
        )
    if args.custom_pg_loss_reducer_function_path is not None:
        make = load_function(args.custom_pg_loss_reducer_function_path)
        reduce = make(batch["total_lengths"], batch["response_lengths"], masks, args.calculate_per_token_loss)
    return pg_loss, reduce


def _responses(batch: RolloutBatch, logits: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """(rows of the logits, response tokens), [N] each; made here where the batch does not bring them."""
    if "response_rows" in batch:
        return batch["response_rows"], batch["response_tokens"]
    lengths = batch["response_lengths"]
    spans = zip(batch["unconcat_tokens"], batch["total_lengths"], lengths, strict=True)
    targets = torch.cat([one[total - response : total] for one, total, response in spans])
    return response_rows(batch["total_lengths"], lengths, logits.device), targets


def _clean(values: Sequence[torch.Tensor] | None, kept: torch.Tensor, lengths: list[int]) -> list[torch.Tensor] | None:
    """The values, 0 at masked tokens."""
    return list(torch.where(kept, torch.cat([*values]), 0.0).split(lengths)) if values else None


def _detached(metrics: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Copies: Megatron-core's schedule divides the loss in place."""
    return {name: value.detach().clone() for name, value in metrics.items()}
