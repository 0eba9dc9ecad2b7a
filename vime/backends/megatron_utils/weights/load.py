"""Weights from a Hugging Face folder into a built model; each rank reads its own share."""

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from vime.backends.megatron_utils.weights.errors import WeightsError
from vime.backends.megatron_utils.weights.mapping import Entry, Share, entries, share_of
from vime.backends.megatron_utils.weights.reader import SafetensorsFolder
from vime.backends.megatron_utils.weights.transforms import fuse


@torch.no_grad()
def load_hf(model: Sequence[torch.nn.Module], folder: str | Path) -> None:
    """Fill every parameter of `model` from the safetensors in `folder`, one at a time.

    The parameters keep their dtype. Rows that pad the vocabulary become 0. Raises WeightsError when a tensor is missing
    or of another shape; the model is partly filled then.
    """
    share = share_of(model)
    with SafetensorsFolder(folder) as source:
        for entry in entries(model):
            weights = _padded(entry, _read(entry, source, share))
            if weights.shape != entry.parameter.shape:
                what = f"{' + '.join(entry.hf)} make {tuple(weights.shape)}, and {entry.name} is "
                raise WeightsError(str(folder), what + str(tuple(entry.parameter.shape)), "load a model of this shape")
            entry.parameter.copy_(weights)


def _read(entry: Entry, source: SafetensorsFolder, share: Share) -> Tensor:
    """This rank's share of the parameter."""
    row = entry.row
    if row.split is None or share.size == 1:
        parts = [source.read(name) for name in entry.hf]
    elif row.vocab:
        rows = entry.parameter.shape[0]
        end = source.shape(entry.hf[0])[0]
        parts = [source.read(entry.hf[0], 0, min(share.rank * rows, end), min((share.rank + 1) * rows, end))]
    else:
        parts = [_slice(source, name, row.split, share) for name in entry.hf]
    return fuse(row.kind, parts, share.groups)


def _slice(source: SafetensorsFolder, name: str, dim: int, share: Share) -> Tensor:
    length = source.shape(name)[dim]
    if length % share.size:
        raise WeightsError(name, f"{length} cannot be divided over {share.size} ranks", "take fewer tensor ranks")
    each = length // share.size
    return source.read(name, dim, share.rank * each, (share.rank + 1) * each)


def _padded(entry: Entry, weights: Tensor) -> Tensor:
    missing = entry.parameter.shape[0] - weights.shape[0] if entry.row.vocab else 0
    return torch.cat([weights, weights.new_zeros(missing, weights.shape[1])]) if missing > 0 else weights
