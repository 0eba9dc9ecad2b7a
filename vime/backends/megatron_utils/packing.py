"""Samples of one micro-batch laid end to end, as one pass of the model takes them."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import torch

_PAD_TOKEN = 0


@dataclass(frozen=True)
class PackedBatch:
    """One micro-batch of n samples, T tokens with padding and N response tokens. Index tensors are int64."""

    tokens: torch.Tensor
    """[1, T]; padding is a sequence of its own at the end."""
    position_ids: torch.Tensor
    """[1, T], from 0 in each sequence."""
    cu_seqlens: torch.Tensor
    """int32: where each sequence begins, and T."""
    max_seqlen: int
    sample_indices: tuple[int, ...]
    """Which samples, in order."""
    lengths: tuple[int, ...]
    """Tokens of each, prompt and response."""
    response_lengths: tuple[int, ...]
    rows: torch.Tensor
    """[N]: the row of the logits that predicts each response token, sample by sample."""
    targets: torch.Tensor
    """[N]: the response tokens."""

    @property
    def padding(self) -> int:
        """Tokens that are no sample's."""
        return self.tokens.shape[1] - sum(self.lengths)


def pack(
    tokens: Sequence[torch.Tensor],
    response_lengths: Sequence[int],
    *,
    lengths: Sequence[int] | None = None,
    sample_indices: Sequence[int] | None = None,
    pad_multiple: int = 1,
) -> PackedBatch:
    """The samples `tokens` (each [L] int64, prompt and response), padded to a multiple of `pad_multiple` tokens.

    `lengths`, where they are known, saves asking every tensor.
    """
    lengths = [len(one) for one in tokens] if lengths is None else list(lengths)
    device = tokens[0].device
    pad = -sum(lengths) % pad_multiple
    if pad:
        tokens = [*tokens, torch.full((pad,), _PAD_TOKEN, dtype=torch.int64, device=device)]
    sequences = [*lengths, pad] if pad else lengths
    bounds = [0, *itertools.accumulate(sequences)]
    every = torch.cat([*tokens])
    starts = torch.repeat_interleave(
        torch.tensor(bounds[:-1], device=device), torch.tensor(sequences, device=device), output_size=bounds[-1]
    )
    rows = response_rows(lengths, response_lengths, device)
    return PackedBatch(
        tokens=every.unsqueeze(0),
        position_ids=(torch.arange(bounds[-1], device=device) - starts).unsqueeze(0),
        cu_seqlens=torch.tensor(bounds, dtype=torch.int32, device=device),
        max_seqlen=max(sequences),
        sample_indices=tuple(range(len(lengths)) if sample_indices is None else sample_indices),
        lengths=tuple(lengths),
        response_lengths=tuple(response_lengths),
        rows=rows,
        targets=every[rows + 1],
    )


def response_rows(
    lengths: Sequence[int], response_lengths: Sequence[int], device: torch.device | str = "cpu"
) -> torch.Tensor:
    """The row of packed logits that predicts each response token: the one before it. [sum of response_lengths] int64."""
    rows: list[int] = []
    end = 0
    for length, response in zip(lengths, response_lengths, strict=True):
        end += length
        rows.extend(range(end - response - 1, end - 1))
    return torch.tensor(rows, dtype=torch.int64, device=device)
