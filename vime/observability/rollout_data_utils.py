"""Samples of a rollout in a file, to look at or to train on without engines; and checks of what a rollout returned.

A file is JSON lines, a sample a line; one that ends in .pt has the same values in torch's format, read with
`weights_only`. Nothing that is read is executed.
"""

from __future__ import annotations

import json
import logging
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vime.utils.atomic_file import write_atomic
from vime.utils.nested import leaves
from vime.utils.path_template import filled
from vime.utils.sample_codec import decode, encode
from vime.utils.types import Sample

__all__ = [
    "RolloutDumpError",
    "load_debug_rollout_data",
    "save_debug_rollout_data",
    "tensorize_rollout_data_for_training",
    "validate_rollout_id_annotated",
    "validate_rollout_routed_experts_for_replay",
]

logger = logging.getLogger(__name__)

_TENSORS = {
    "tokens": "int64",
    "loss_masks": "int32",
    "rollout_log_probs": "float32",
    "rollout_top_p_token_ids": "int32",
    "rollout_top_p_token_offsets": "int32",
    "teacher_log_probs": "float32",
    "rollout_routed_experts": None,
}
"""Columns of arrays, and their types for the trainer."""


class RolloutDumpError(ValueError):
    """A file that is no dump of a rollout."""


def save_debug_rollout_data(path_template: str | None, data: Any, *, rollout_id: int, evaluation: bool) -> None:
    """Write samples (or the sets of an evaluation) to the file; {rollout_id} in its name stands for the number."""
    if path_template is None:
        return
    path = _path(path_template, f"eval_{rollout_id}" if evaluation else str(rollout_id))
    samples = [one for found in data.values() for one in found["samples"]] if evaluation else list(data)
    rows = [encode(sample.to_dict(), f"sample {sample.index}") for sample in leaves(samples)]
    if path.suffix != ".pt":
        write_atomic(path, "".join(json.dumps(row) + "\n" for row in rows).encode())
        return
    import io

    import torch

    buffer = io.BytesIO()
    torch.save({"rollout_id": rollout_id, "samples": rows}, buffer)
    write_atomic(path, buffer.getvalue())


def load_debug_rollout_data(
    path_template: str, *, rollout_id: int, subsample_ratio: float | None = None
) -> list[Sample]:
    """The samples of such a file; with `subsample_ratio` as many of its beginning as of its end.

    Raises FileNotFoundError, and RolloutDumpError for a line that is no sample.
    """
    path = _path(path_template, str(rollout_id))
    samples = []
    for number, row in enumerate(_rows(path), 1):
        try:
            samples.append(Sample.from_dict(decode(json.loads(row) if isinstance(row, str) else row)))
        except (ValueError, KeyError, TypeError) as error:
            raise RolloutDumpError(
                f"{path}:{number}: no sample: {error!r}; write it with --save-debug-rollout-data"
            ) from None
    if subsample_ratio is None:
        return samples
    wanted = int(len(samples) * subsample_ratio)
    return samples[: wanted - wanted // 2] + samples[len(samples) - wanted // 2 :]


def _rows(path: Path) -> list[Any]:
    if path.suffix != ".pt":
        return [line for line in path.read_text("utf-8").splitlines() if line]
    import pickle

    import torch

    try:
        return torch.load(path, weights_only=True)["samples"]
    except (pickle.UnpicklingError, RuntimeError, KeyError, TypeError) as error:
        raise RolloutDumpError(
            f"{path} holds other objects than plain values, or is no dump: {error}; write it anew as .jsonl"
        ) from error


def _path(template: str, rollout: str) -> Path:
    return Path(filled(template, rollout_id=rollout))


def validate_rollout_id_annotated(node: Any, depth: int = 0) -> None:
    """Raises ValueError unless the samples of each fan-out (three lists deep) share one rollout_id."""
    if not isinstance(node, list) or not node:
        return
    if not isinstance(node[0], Sample):
        for item in node:
            validate_rollout_id_annotated(item, depth + 1)
        return
    ids = [sample.rollout_id for sample in node]
    if depth >= 2 and len(node) > 1 and (None in ids or len(set(ids)) > 1):
        raise ValueError(
            f"samples of one fan-out have the rollout_ids {ids}: the generate function sets one for all, by which the "
            "loss weighs them as one rollout"
        )


def validate_rollout_routed_experts_for_replay(routed_experts: Sequence[Any], args: Namespace) -> None:
    """Raises ValueError for routed experts that cannot be replayed: none, misshapen, or zeros throughout a layer."""
    if not routed_experts:
        raise ValueError(
            "no routed experts came with the rollout: start the engine with --enable-return-routed-experts"
        )
    import numpy as np

    layers, topk = int(args.num_layers), int(args.moe_router_topk)
    frequency = getattr(args, "moe_layer_freq", None)
    sparse = [i for i in range(layers) if not isinstance(frequency, Sequence) or int(frequency[i]) != 0]
    for number, experts in enumerate(map(np.asarray, routed_experts)):
        if experts.ndim != 3 or experts.shape[1:] != (layers, topk) or not len(experts):
            raise ValueError(
                f"sample {number}: routed experts of shape {experts.shape}, not (positions, {layers}, {topk})"
            )
        silent = [layer for layer in sparse if topk > 1 and not experts[:, layer].any()]
        if silent:
            raise ValueError(
                f"sample {number}: routed experts of layers {silent} are all zero, so they were not recorded"
            )


def tensorize_rollout_data_for_training(rollout_data: dict[str, Any]) -> None:
    """Columns of arrays as CPU tensors of the trainer's types, in place."""
    import torch

    def tensor(value: Any, dtype: str | None) -> Any:
        if hasattr(value, "flags") and not value.flags.writeable:
            value = value.copy()
        return torch.as_tensor(value, dtype=dtype and getattr(torch, dtype)).detach().cpu().contiguous()

    for name, dtype in _TENSORS.items():
        if name in rollout_data:
            rollout_data[name] = [tensor(value, dtype) for value in rollout_data[name]]
    if "rollout_mask_sums" in rollout_data:
        rollout_data["rollout_mask_sums"] = tensor(rollout_data["rollout_mask_sums"], "float32")
    if "multimodal_train_inputs" in rollout_data:
        rollout_data["multimodal_train_inputs"] = [
            one if one is None else {key: _maybe_tensor(tensor, value) for key, value in one.items()}
            for one in rollout_data["multimodal_train_inputs"]
        ]


def _maybe_tensor(tensor: Any, value: Any) -> Any:
    return tensor(value, None) if hasattr(value, "shape") else value
