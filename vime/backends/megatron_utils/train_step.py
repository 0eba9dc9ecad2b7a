"""One update: Megatron-core's forward and backward passes with our loss, every check, and only then the optimizer's step."""

import math
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.distributed as dist
from megatron.core import parallel_state
from megatron.core.distributed import finalize_model_grads
from megatron.core.pipeline_parallel import get_forward_backward_func
from megatron.core.utils import get_model_config

from vime.backends.megatron_utils.agreement import sample_name
from vime.backends.megatron_utils.checkpoint import TrainState
from vime.backends.megatron_utils.cp_utils import get_sum_of_sample_mean
from vime.backends.megatron_utils.data import DataIterator
from vime.backends.megatron_utils.forward import forward_logits
from vime.backends.megatron_utils.loss import LossTerms, policy_terms, sft_loss_function
from vime.utils.misc import load_function
from vime.utils.train_share import TOP_P_COLUMNS
from vime.utils.types import RolloutBatch

LOSS_COLUMNS = (
    "advantages",
    "returns",
    "log_probs",
    "ref_log_probs",
    "rollout_log_probs",
    *TOP_P_COLUMNS,
    "teacher_log_probs",
    "rollout_mask_sums",
    "sample_indices",
    "metadata",
)
"""Columns that a loss function is given, beside tokens, lengths and masks."""


class NonFiniteUpdate(ArithmeticError):
    """The loss or the gradient of an update is not finite. The weights are as before."""


@dataclass(frozen=True)
class Update:
    """What one update consists of, on this rank and in all."""

    number: int
    """Of the rollout's updates, from 0."""
    micro_batches: tuple[tuple[int, ...], ...]
    """Positions in the rank's share."""
    rollouts: int
    """Of all ranks."""
    tokens: int
    """Unmasked tokens, of all ranks."""


@dataclass
class Seen:
    """What the passes of one update met, on this rank."""

    sums: dict[str, torch.Tensor] = field(default_factory=dict)
    log_probs: dict[int, torch.Tensor] = field(default_factory=dict)
    """By position in the share."""
    bad: list[int] = field(default_factory=list)
    """Positions of the samples of micro-batches whose loss is not finite."""

    def add(self, terms: LossTerms, positions: Sequence[int]) -> None:
        """One micro-batch."""
        for name, value in terms.metrics.items():
            value = value.detach().double()
            self.sums[name] = self.sums[name] + value if name in self.sums else value
        if terms.log_probs is not None:
            self.log_probs |= dict(zip(positions, terms.log_probs, strict=True))
        if not bool(torch.isfinite(terms.loss.detach())):
            self.bad += _to_blame(terms, positions)


def updates_of(share: Mapping[str, Any]) -> tuple[Update, ...]:
    """The updates that a share is scheduled for."""
    updates, start = [], 0
    sizes = zip(share["num_microbatches"], share["global_batch_sizes"], share["global_token_sums"], strict=True)
    for number, (count, rollouts, tokens) in enumerate(sizes):
        own = tuple(tuple(one) for one in share["micro_batch_indices"][start : start + count])
        updates.append(Update(number, own, rollouts, tokens))
        start += count
    return tuple(updates)


def run_passes(args: Namespace, trainer: TrainState, share: RolloutBatch, update: Update, pad_multiple: int) -> Seen:
    """The forward and backward passes of an update: gradients are summed over ranks and ready for the optimizer."""
    config = get_model_config(trainer.model[0])
    config.finalize_model_grads_func = finalize_model_grads
    config.grad_scale_func = trainer.optimizer.inner.scale_loss if args.dtype == "float16" else None
    for chunk in trainer.model:
        chunk.train()
        chunk.zero_grad_buffer()
    trainer.optimizer.zero_grad()
    seen = Seen()
    loss_of = _loss_function(args)
    scale = _scale(args, update, config.calculate_per_token_loss)

    def forward_step(iterator: DataIterator, model: torch.nn.Module) -> tuple[torch.Tensor, Callable[..., Any]]:
        packed, batch = iterator.next_packed(LOSS_COLUMNS, pad_multiple)
        logits = forward_logits(model, packed.tokens, packed.position_ids, packed.cu_seqlens, packed.max_seqlen)

        def finish(logits: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, dict[str, Any]]:
            terms = loss_of(args, batch, logits, _reducer(args, batch))
            seen.add(terms, packed.sample_indices)
            return terms.loss * scale, torch.tensor(0 if config.calculate_per_token_loss else 1, dtype=torch.int), {}

        return logits, finish

    get_forward_backward_func()(
        forward_step_func=forward_step,
        data_iterator=DataIterator(share, update.micro_batches),
        model=trainer.model,
        num_microbatches=len(update.micro_batches),
        seq_length=1,
        micro_batch_size=1,
        forward_only=False,
    )
    return seen


def apply_update(args: Namespace, trainer: TrainState, update: Update) -> tuple[bool, float]:
    """The optimizer's step, and the schedule's if it was made: (whether the weights changed, the gradient's norm before clipping).

    Raises NonFiniteUpdate where the norm is not finite, unless args.nonfinite_update says to skip. In float16 an overflow
    of the scaled gradient is part of the method: the update is left out.
    """
    made, norm, _ = trainer.optimizer.step()
    norm = float(norm)
    overflow = args.dtype == "float16" and math.isnan(norm)  # how the scale of the loss is found; it is lower now
    if not made and not overflow and args.nonfinite_update == "error":
        raise NonFiniteUpdate(
            f"update {update.number}: the gradient's norm is {norm}, though the loss is finite; the weights are as before. "
            f"Lower --lr or --clip-grad, or set --nonfinite-update skip"
        )
    if made:
        trainer.scheduler.step(increment=update.rollouts)
    for chunk in trainer.model:
        chunk.zero_grad_buffer()
    trainer.optimizer.zero_grad()
    return made, norm


def reduce_metrics(args: Namespace, seen: Seen, update: Update) -> dict[str, float]:
    """The update's figures over all data-parallel ranks, as its loss is normalised. The same on every rank."""
    names = sorted(seen.sums)
    sums = torch.stack([seen.sums[name] for name in names])
    dist.all_reduce(sums, group=parallel_state.get_data_parallel_group(with_context_parallel=True))
    return dict(zip(names, (sums / _normaliser(args, update)).tolist(), strict=True))


def require_finite(args: Namespace, seen: Seen, share: Mapping[str, Any], update: Update) -> bool:
    """Whether every rank's loss is finite. Every rank must call.

    Raises NonFiniteUpdate, which names the samples, on every rank; with --nonfinite-update skip it is only False.
    """
    names = sorted({sample_name(share, position) for position in seen.bad})
    found: list[list[str]] = [names]
    group = parallel_state.get_data_parallel_group(with_context_parallel=True)
    bad = torch.tensor([len(names)], device=share["tokens"][0].device)
    dist.all_reduce(bad, group=group)
    if not int(bad):
        return True
    if group.size() > 1:
        found = [[] for _ in range(group.size())]
        dist.all_gather_object(found, names, group=group)
    if args.nonfinite_update == "error":
        listed = ", ".join(name for one in found for name in one)
        raise NonFiniteUpdate(
            f"update {update.number}: the loss is not finite with {listed}; the weights are as before. Look at their "
            f"rewards, advantages and logprobs, or set --nonfinite-update skip"
        )
    return False


def _loss_function(args: Namespace) -> Callable[..., LossTerms]:
    """What --loss-type names, as a function of (args, batch, logits, reducer)."""
    if args.loss_type == "policy_loss":
        return lambda *given: policy_terms(*given, overwrite=True)
    function = sft_loss_function if args.loss_type == "sft_loss" else load_function(args.custom_loss_function_path)
    return lambda *given: LossTerms(*function(*given))


def _reducer(args: Namespace, batch: Mapping[str, Any]) -> Callable[[torch.Tensor], torch.Tensor]:
    return get_sum_of_sample_mean(
        batch["total_lengths"],
        batch["response_lengths"],
        batch["loss_masks"],
        batch["rollout_mask_sums"],
        args.calculate_per_token_loss,
    )


def _normaliser(args: Namespace, update: Update) -> int:
    return max(update.tokens, 1) if args.calculate_per_token_loss else update.rollouts


def _scale(args: Namespace, update: Update, summed: bool) -> float:
    """What a micro-batch's loss is multiplied by: 1 / normaliser, and what undoes Megatron-core's means over
    micro-batches and data-parallel ranks (`summed`: it takes none, being told to weigh tokens itself)."""
    ranks = 1 if summed else parallel_state.get_data_parallel_world_size(with_context_parallel=True)
    passes = 1 if summed else len(update.micro_batches)
    return passes * ranks / _normaliser(args, update)


def _to_blame(terms: LossTerms, positions: Sequence[int]) -> list[int]:
    """Samples whose logprobs are not finite; all of the micro-batch where none is."""
    if terms.log_probs is None:
        return list(positions)
    own = zip(positions, terms.log_probs, strict=True)
    return [position for position, one in own if not bool(torch.isfinite(one).all())] or list(positions)
