"""A Hugging Face folder out of a built model."""

import json
import shutil
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import torch
from megatron.core import parallel_state
from safetensors import SafetensorError
from safetensors.torch import save_file
from torch import Tensor

from vime.backends.megatron_utils.weights.errors import WeightsError
from vime.backends.megatron_utils.weights.export import hf_tensors
from vime.utils.atomic_folder import whole_folder

_ASSETS = (".json", ".txt", ".model", ".jinja", ".tiktoken")
_INDEX = "model.safetensors.index.json"


def save_hf(model: Sequence[torch.nn.Module], args: Namespace, folder: str | Path, shard_bytes: int = 1 << 30) -> None:
    """Write the model into `folder`: safetensors of at most about `shard_bytes` each, with the configuration and
    tokenizer of args.hf_checkpoint. The folder is there whole or not at all; one that was there is replaced.

    Every rank calls it; data-parallel rank 0 gathers, and its tensor-parallel rank 0 writes. At most one shard is in
    memory. Raises WeightsError there when the disk is full or cannot be written.
    """
    if parallel_state.get_data_parallel_rank(with_context_parallel=True) != 0:
        return
    tensors = hf_tensors(model, args)
    if parallel_state.get_tensor_model_parallel_rank() == 0:
        try:
            with whole_folder(Path(folder)) as new:
                _copy_assets(Path(args.hf_checkpoint), new, args.dtype)
                _write_shards(tensors, new, shard_bytes)
        except (OSError, SafetensorError) as error:
            raise WeightsError(str(folder), f"it cannot be written ({error})", "make room there") from error
        finally:
            _finish(tensors)
    else:
        _finish(tensors)


def _finish(tensors: Iterable[tuple[str, Tensor]]) -> None:
    """Take part in what is left to gather, so that no rank waits for another."""
    for _ in tensors:
        pass


def _copy_assets(source: Path, folder: Path, dtype: str) -> None:
    for path in sorted(source.iterdir()):
        if path.suffix in _ASSETS and path.is_file() and path.name != _INDEX:
            shutil.copyfile(path, folder / path.name)
    config = json.loads((folder / "config.json").read_text("utf-8"))
    config |= {key: dtype for key in ("dtype", "torch_dtype") if key in config}
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def _write_shards(tensors: Iterator[tuple[str, Tensor]], folder: Path, shard_bytes: int) -> None:
    shards: list[list[str]] = []
    total = 0
    for shard in _shards(tensors, shard_bytes):
        shards.append(list(shard))
        total += sum(tensor.nbytes for tensor in shard.values())
        save_file(shard, folder / _shard_name(len(shards), 0), metadata={"format": "pt"})
    names = [_shard_name(number, len(shards)) for number in range(1, len(shards) + 1)]
    for number, name in enumerate(names, 1):
        (folder / _shard_name(number, 0)).rename(folder / name)
    if len(shards) > 1:
        weight_map = {tensor: name for name, shard in zip(names, shards) for tensor in shard}
        index = {"metadata": {"total_size": total}, "weight_map": weight_map}
        (folder / _INDEX).write_text(json.dumps(index, indent=2) + "\n", encoding="utf-8")


def _shard_name(number: int, count: int) -> str:
    return "model.safetensors" if count == 1 else f"model-{number:05}-of-{count:05}.safetensors"


def _shards(tensors: Iterable[tuple[str, Tensor]], shard_bytes: int) -> Iterator[dict[str, Tensor]]:
    shard: dict[str, Tensor] = {}
    size = 0
    for name, tensor in tensors:
        if shard and size + tensor.nbytes > shard_bytes:
            yield shard
            shard, size = {}, 0
        shard[name] = tensor.to("cpu", copy=True).contiguous()
        size += tensor.nbytes
    if shard:
        yield shard
