"""A rank's share of training data as tensors, and its micro-batches one after the other."""

import itertools
from collections.abc import Sequence
from typing import Any

import torch
from megatron.core import parallel_state

from vime.backends.megatron_utils.core_attention import packing
from vime.backends.megatron_utils.packing import PackedBatch, pack
from vime.utils.types import RolloutBatch

_TENSORS = {
    "tokens": torch.int64,
    "loss_masks": torch.float32,
    "rollout_log_probs": torch.float32,
    "teacher_log_probs": torch.float32,
}


def to_tensors(share: RolloutBatch, device: torch.device | str) -> RolloutBatch:
    """The share with its per-token columns as tensors on `device`: tokens int64, the others float32."""
    tensors = {
        name: _as_tensors(share[name], dtype, device) for name, dtype in _TENSORS.items() if share.get(name) is not None
    }
    return {**share, **tensors}


def _as_tensors(column: Sequence[Any], dtype: torch.dtype, device: torch.device | str) -> list[torch.Tensor]:
    """The rows of a column as views of one tensor, which is made at once."""
    if any(isinstance(one, torch.Tensor) for one in column):
        return [torch.as_tensor(one, dtype=dtype, device=device) for one in column]
    flat = torch.tensor(list(itertools.chain.from_iterable(column)), dtype=dtype, device=device)
    return list(flat.split([len(one) for one in column]))


class DataIterator:
    """Hands out micro-batches of a share in the order of a schedule."""

    def __init__(self, rollout_data: RolloutBatch, micro_batch_indices: Sequence[Sequence[int]]) -> None:
        self.rollout_data = rollout_data
        self.micro_batch_indices = micro_batch_indices
        self.offset = 0

    def get_next(self, keys: Sequence[str]) -> dict[str, list[Any] | None]:
        """The next micro-batch's part of the columns `keys`; None for one that there is not."""
        indices = self.micro_batch_indices[self.offset]
        self.offset += 1
        columns = {key: self.rollout_data.get(key) for key in keys}
        return {key: None if column is None else [column[i] for i in indices] for key, column in columns.items()}

    def next_packed(self, keys: Sequence[str], pad_multiple: int) -> tuple[PackedBatch, dict[str, Any]]:
        """The next micro-batch as one pass takes it, and as loss functions take it (upstream's keys)."""
        indices = self.micro_batch_indices[self.offset]
        batch = self.get_next(("tokens", "total_lengths", "response_lengths", "loss_masks", *keys))
        batch = {key: column for key, column in batch.items() if column is not None}
        packed = pack(
            batch["tokens"],
            batch["response_lengths"],
            lengths=batch["total_lengths"],
            sample_indices=indices,
            pad_multiple=pad_multiple,
        )
        own = {"tokens": packed.tokens, "response_rows": packed.rows, "response_tokens": packed.targets}
        return packed, batch | {"unconcat_tokens": batch["tokens"]} | own

    def reset(self) -> "DataIterator":
        """Begin again."""
        self.offset = 0
        return self


def get_data_iterator(rollout_data: RolloutBatch) -> list[DataIterator]:
    """An iterator over the share's own schedule for each virtual pipeline stage."""
    stages = parallel_state.get_virtual_pipeline_model_parallel_world_size() or 1
    return [DataIterator(rollout_data, rollout_data["micro_batch_indices"]) for _ in range(stages)]


def get_batch(
    data_iterator: DataIterator, keys: Sequence[str], pad_multiplier: int = 128, allgather_cp: bool = False
) -> dict[str, Any]:
    """The next micro-batch in upstream's form: `tokens` [1, T], `packed_seq_params`, `full_loss_masks` [1, T] aligned with
    the logits, and the columns `keys`."""
    pad_multiple = pad_multiplier * parallel_state.get_tensor_model_parallel_world_size()
    packed, batch = data_iterator.next_packed(keys, pad_multiple)
    masks = torch.zeros(packed.tokens.shape, dtype=torch.float32, device=packed.tokens.device)
    masks[0, packed.rows] = torch.cat(batch["loss_masks"])
    missing = {key: None for key in keys if key not in batch}
    return {
        **missing,
        **batch,
        "packed_seq_params": packing(packed.cu_seqlens, packed.max_seqlen),
        "full_loss_masks": masks,
    }


def tensors_to_cpu(tensor_list: Sequence[torch.Tensor] | None) -> list[torch.Tensor] | None:
    """Copies in main memory, without their graphs."""
    return None if tensor_list is None else [one.detach().cpu() for one in tensor_list]


def tensors_to_gpu(
    tensor_list: Sequence[torch.Tensor] | None, device: torch.device | str | None = None
) -> list[torch.Tensor] | None:
    """Float32 copies on `device`, the trainer's own when None."""
    if tensor_list is None:
        return None
    target = device if device is not None else torch.get_default_device()
    return [one.to(device=target, dtype=torch.float32) for one in tensor_list]
