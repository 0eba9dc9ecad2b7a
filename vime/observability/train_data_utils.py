"""Dumps of what the trainer trained on, sample by sample and in the order of the rollout's dump."""

from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from vime.utils.path_template import filled

FORMAT_VERSION = 2
CONTEXT_PARALLEL_FIELDS = (
    "advantages",
    "entropy",
    "kl",
    "log_probs",
    "opd_reverse_kl",
    "ref_log_probs",
    "returns",
    "rollout_log_probs",
    "teacher_log_probs",
    "values",
)
"""Columns of which a context-parallel rank holds a part of each sample."""
_LAYOUT = ("micro_batch_indices", "num_microbatches", "global_batch_sizes")
_WHOLE_BATCH = ("raw_reward",)
_IDS = {"sample_indices": "sample_index", "partition": "rollout_position"}
"""Columns that say which sample it is, and what that is called of one sample."""

Gather = Callable[[torch.Tensor, int, int], torch.Tensor]


def save_debug_train_data(
    args: Namespace, *, rollout_id: int, rollout_data: Mapping[str, Any], dp_rank: int = 0, dp_group: Any = None
) -> Path | None:
    """Write the shares of all data-parallel ranks into the file `args.save_debug_train_data` ({rollout_id}, {rank}).

    A collective over `dp_group` where there is one; its first rank writes, and gets the path. The file is torch's, of a
    dict: `samples` (a dict each), `dp_shards` (how they were laid out), `raw_reward`, `rollout_id`, `rank`.
    """
    if args.save_debug_train_data is None:
        return None
    rank = dist.get_rank() if dist.is_initialized() else 0
    shard = {"rank": rank, "data_parallel_rank": dp_rank, "rollout_data": to_cpu(rollout_data)}
    shards: list[Any] | None = [shard]
    if dp_group is not None and dist.get_world_size(dp_group) > 1:
        first = dist.get_global_rank(dp_group, 0)
        shards = [None] * dist.get_world_size(dp_group) if rank == first else None
        dist.gather_object(shard, shards, dst=first, group=dp_group)
    if shards is None:
        return None
    path = Path(filled(args.save_debug_train_data, rollout_id=rollout_id, rank=rank))
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save(dump_payload(shards, rollout_id=rollout_id, writer_rank=rank), path)
    return path


def dump_payload(shards: Sequence[Mapping[str, Any]], *, rollout_id: int, writer_rank: int) -> dict[str, Any]:
    """The shares as one list of samples, in the rollout's order as far as the shares say it."""
    samples = [sample for shard in shards for sample in _samples(shard)]
    for order in ("rollout_position", "sample_index"):
        if samples and all(sample.get(order) is not None for sample in samples):
            samples.sort(key=lambda sample: sample[order])
            break
    whole = {
        key: shard["rollout_data"][key] for key in _WHOLE_BATCH for shard in shards if key in shard["rollout_data"]
    }
    about = {"format_version": FORMAT_VERSION, "rollout_id": rollout_id, "rank": writer_rank}
    return about | {"samples": samples, "dp_shards": [_layout(shard) for shard in shards]} | whole


def _samples(shard: Mapping[str, Any]) -> list[dict[str, Any]]:
    data, count = shard["rollout_data"], _count(shard)
    columns = {_IDS.get(key, key): value for key, value in data.items() if _is_column(key, value, count)}
    here = {"data_parallel_rank": shard["data_parallel_rank"]}
    return [here | {name: column[place] for name, column in columns.items()} for place in range(count)]


def _layout(shard: Mapping[str, Any]) -> dict[str, Any]:
    """What belongs to the share and to no single sample, and which samples it has."""
    data, count = shard["rollout_data"], _count(shard)
    rest = {key: value for key, value in data.items() if key not in _WHOLE_BATCH and not _is_column(key, value, count)}
    ids = {key: list(data[key]) if data.get(key) is not None else None for key in _IDS}
    return {"rank": shard["rank"], "data_parallel_rank": shard["data_parallel_rank"]} | rest | ids


def _count(shard: Mapping[str, Any]) -> int:
    return len(shard["rollout_data"]["response_lengths"])


def _is_column(key: str, value: Any, count: int) -> bool:
    """Whether it has a value a sample."""
    if key in _LAYOUT or key in _WHOLE_BATCH:
        return False
    if torch.is_tensor(value):
        return value.dim() > 0 and value.size(0) == count
    return isinstance(value, list | tuple) and len(value) == count


@torch.no_grad()
def restore_context_parallel_fields_to_cpu(
    rollout_data: Mapping[str, Any], gather_tensor: Gather, *, keep_restored: bool
) -> dict[str, Any] | None:
    """The share with whole samples, on the CPU; None where `keep_restored` is off, on ranks that only take part.

    `gather_tensor(part [r], total_length, response_length)` is a collective that gives the whole, [response_length]; one
    sample is gathered at a time. Raises ValueError where a column does not fit the samples.
    """
    lengths = list(zip(rollout_data["total_lengths"], rollout_data["response_lengths"], strict=True))
    restored = {key: value for key, value in rollout_data.items() if key not in CONTEXT_PARALLEL_FIELDS}
    kept = to_cpu(restored) if keep_restored else None
    for key in CONTEXT_PARALLEL_FIELDS:
        parts = rollout_data.get(key)
        if parts is None:
            continue
        if not isinstance(parts, list | tuple) or len(parts) != len(lengths):
            raise ValueError(f"{key}: it needs a tensor for each of the {len(lengths)} samples")
        wholes = (_whole(gather_tensor, key, place, part, *lengths[place]) for place, part in enumerate(parts))
        values = [whole.cpu() if keep_restored else None for whole in wholes]
        if kept is not None:
            kept[key] = values
    return kept


def _whole(gather: Gather, key: str, place: int, part: torch.Tensor, total: int, response: int) -> torch.Tensor:
    whole = gather(part, int(total), int(response)).detach()
    if whole.size(0) != response:
        raise ValueError(f"{key}: sample {place} has {whole.size(0)} values for a response of {response}")
    return whole


def to_cpu(value: Any) -> Any:
    """The same with every tensor in it on the CPU and without gradient."""
    if torch.is_tensor(value):
        return value.detach().cpu()
    if isinstance(value, Mapping):
        return {key: to_cpu(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(to_cpu(item) for item in value)
    return value
