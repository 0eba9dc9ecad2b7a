"""Which words the engine's sampling kept for each token, so that the trainer's logprobs are of these as the engine's are."""

from collections.abc import Mapping
from typing import Any

import torch
import torch.distributed as dist

from vime.learning.logprobs import vocab_range
from vime.utils.train_share import TOP_P_COLUMNS


def kept_words(batch: Mapping[str, Any], logits: torch.Tensor, group: dist.ProcessGroup | None) -> torch.Tensor | None:
    """[N, V / ranks] bool for the N response tokens of a micro-batch with logits [T, V / ranks]; None without the columns.

    A sample that has none (it is not trained on) keeps every word.
    """
    ids, offsets = (batch.get(name) for name in TOP_P_COLUMNS)
    if ids is None or offsets is None:
        return None
    start, end = vocab_range(logits.shape[1], group)
    parts = []
    for own, bounds, length in zip(ids, offsets, batch["response_lengths"], strict=True):
        if own is None or bounds is None:
            parts.append(torch.ones(length, end - start, dtype=torch.bool, device=logits.device))
            continue
        words = torch.as_tensor(own, dtype=torch.int64, device=logits.device)
        counts = torch.as_tensor(bounds, dtype=torch.int64, device=logits.device).diff()
        places = torch.repeat_interleave(torch.arange(length, device=logits.device), counts)
        mine = (words >= start) & (words < end)
        kept = torch.zeros(length, end - start, dtype=torch.bool, device=logits.device)
        kept[places[mine], words[mine] - start] = True
        parts.append(kept)
    return torch.cat(parts)
