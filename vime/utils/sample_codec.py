"""Samples as JSON and back, exactly: nothing in such a file is executed when it is read.

What JSON has no word for is an object of one key that begins with `$`: arrays, tensors, bytes, tuples, images, and
mappings whose keys are no text.
"""

from __future__ import annotations

import base64
import io
import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

from vime.utils.types import Sample

__all__ = ["decode", "dumps_sample", "encode", "loads_sample"]

_PLAIN = (str, int, float, bool, type(None))


def dumps_sample(sample: Sample) -> str:
    """One line of JSON. Raises TypeError naming the attribute that holds something else."""
    return json.dumps(
        {name: encode(value, f"sample {sample.index}: {name}") for name, value in sample.to_dict().items()}
    )


def loads_sample(line: str) -> Sample:
    """The sample that `dumps_sample` wrote. Raises ValueError where it is none."""
    return Sample.from_dict(decode(json.loads(line)))


def encode(value: Any, where: str = "value") -> Any:
    """`value` in JSON's words."""
    if type(value) in _PLAIN:
        return value
    if type(value) is list:
        return [encode(item, where) for item in value]
    if isinstance(value, Mapping):
        if all(isinstance(key, str) and not key.startswith("$") for key in value):
            return {key: encode(item, f"{where}.{key}") for key, item in value.items()}
        return {"$items": [[encode(key, where), encode(item, where)] for key, item in value.items()]}
    if type(value) is tuple:
        return {"$tuple": [encode(item, where) for item in value]}
    if isinstance(value, bytes):
        return {"$bytes": _text(value)}
    return _library_value(value, where)


def _library_value(value: Any, where: str) -> Any:
    """Values of libraries, which are loaded already if there is one."""
    numpy, torch, pillow = (sys.modules.get(name) for name in ("numpy", "torch", "PIL.Image"))
    if numpy and isinstance(value, numpy.generic):
        return value.item()
    if numpy and isinstance(value, numpy.ndarray):
        return {"$array": _npy(value)}
    if torch and isinstance(value, torch.Tensor):
        return {"$tensor": _npy(value.detach().cpu().contiguous().numpy())}
    if pillow and isinstance(value, pillow.Image):
        from vime.utils.processing_utils import encode_image_for_rollout_engine

        return {"$image": encode_image_for_rollout_engine(value).partition(",")[2]}
    raise TypeError(f"{where} is a {type(value).__name__}, which cannot be saved; keep plain values or arrays there")


def decode(value: Any) -> Any:
    """What `encode` made `value` of."""
    if isinstance(value, list):
        return [decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        ((tag, content),) = value.items()
        if tag in _READERS:
            return _READERS[tag](content)
    return {key: decode(item) for key, item in value.items()}


def _npy(array: Any) -> str:
    import numpy as np

    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    return _text(file.getvalue())


def _array(text: str) -> Any:
    import numpy as np

    return np.load(io.BytesIO(base64.b64decode(text)), allow_pickle=False)


def _tensor(text: str) -> Any:
    import torch

    return torch.from_numpy(_array(text))


def _image(text: str) -> Any:
    from PIL import Image

    image = Image.open(io.BytesIO(base64.b64decode(text)))
    image.load()
    return image


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "$items": lambda pairs: {decode(key): decode(item) for key, item in pairs},
    "$tuple": lambda items: tuple(map(decode, items)),
    "$bytes": base64.b64decode,
    "$array": _array,
    "$tensor": _tensor,
    "$image": _image,
}
