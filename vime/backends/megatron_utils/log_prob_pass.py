"""A pass that only computes logprobs, with the weights as they are."""

from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from vime.backends.megatron_utils.forward import forward_logits
from vime.backends.megatron_utils.loss import batch_log_probs
from vime.backends.megatron_utils.packing import PackedBatch, pack
from vime.utils.dp_schedule import token_budget
from vime.utils.seqlen_balancing import best_fit_pack
from vime.utils.train_share import TOP_P_COLUMNS


@torch.no_grad()
def compute_log_probs(
    args: Namespace, model: Sequence[torch.nn.Module], share: Mapping[str, Any], pad_multiple: int = 1
) -> list[torch.Tensor]:
    """The logprobs of the response tokens of each sample of a share, [R] float32, at the rollout's temperature.

    Ranks that share layers must call together; data-parallel ranks need not.
    """
    for chunk in model:
        chunk.eval()
    found: dict[int, torch.Tensor] = {}
    for positions in _bins(args, share["total_lengths"]):
        packed = pack(
            [share["tokens"][i] for i in positions],
            [share["response_lengths"][i] for i in positions],
            lengths=[share["total_lengths"][i] for i in positions],
            pad_multiple=pad_multiple,
        )
        kept = {name: [share[name][i] for i in positions] for name in TOP_P_COLUMNS if name in share}
        found |= dict(zip(positions, _pass(args, model[0], packed, kept), strict=True))
    return [found[position] for position in range(len(share["total_lengths"]))]


def _pass(args: Namespace, model: torch.nn.Module, packed: PackedBatch, kept: Mapping[str, Any]) -> list[torch.Tensor]:
    logits = forward_logits(model, packed.tokens, packed.position_ids, packed.cu_seqlens, packed.max_seqlen)
    lengths = list(packed.response_lengths)
    batch = {"response_rows": packed.rows, "response_tokens": packed.targets, "response_lengths": lengths, **kept}
    return list(batch_log_probs(args, logits, batch)[0].split(lengths))


def _bins(args: Namespace, lengths: Sequence[int]) -> list[list[int]]:
    """Which samples go through the model together."""
    if token_budget(args):
        return best_fit_pack(lengths, args.log_probs_max_tokens_per_gpu or args.max_tokens_per_gpu)
    size = args.micro_batch_size
    return [list(range(i, min(i + size, len(lengths)))) for i in range(0, len(lengths), size)]
