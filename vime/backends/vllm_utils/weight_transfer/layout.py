"""How tensors lie in a bucket of bytes. Both ends compute it from names, dtypes and shapes; pure."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

ALIGNMENT = 16
"""Every tensor begins at a multiple of so many bytes: a view in its own dtype is possible there, and copies are fast."""

DTYPE_BYTES = {
    "float64": 8,
    "float32": 4,
    "bfloat16": 2,
    "float16": 2,
    "float8_e4m3fn": 1,
    "float8_e5m2": 1,
    "int64": 8,
    "int32": 4,
    "int16": 2,
    "int8": 1,
    "uint8": 1,
    "bool": 1,
}
"""Torch's dtypes by the names they have on the wire."""


@dataclass(frozen=True)
class TensorMeta:
    """A tensor as the wire describes it: its Hugging Face name, dtype and full shape."""

    name: str
    dtype: str
    shape: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        """Bytes of its values."""
        return math.prod(self.shape) * DTYPE_BYTES[self.dtype]


@dataclass(frozen=True)
class Bucket:
    """Tensors that travel together, in one contiguous buffer of `nbytes` uint8."""

    tensors: tuple[TensorMeta, ...]
    offsets: tuple[int, ...]
    nbytes: int


def bucket_of(tensors: Iterable[TensorMeta]) -> Bucket:
    """The bucket that holds `tensors` in order."""
    tensors, offsets, end = tuple(tensors), [], 0
    for tensor in tensors:
        offsets.append(end)
        end += aligned(tensor.nbytes)
    return Bucket(tensors, tuple(offsets), end)


def buckets_of(
    names: Sequence[str], dtype_names: Sequence[str], shapes: Sequence[Sequence[int]], counts: Sequence[int]
) -> list[Bucket]:
    """The buckets of an update as it is described on the wire; `counts` says how many tensors each holds.

    Raises ValueError where the lists disagree.
    """
    if not len(names) == len(dtype_names) == len(shapes) == sum(counts):
        raise ValueError(
            f"{len(names)} names, {len(dtype_names)} dtypes, {len(shapes)} shapes and buckets of {sum(counts)} tensors"
        )
    if unknown := sorted(set(dtype_names) - set(DTYPE_BYTES)):
        raise ValueError(f"unknown dtypes {unknown}; known are {sorted(DTYPE_BYTES)}")
    metas = iter([TensorMeta(*row) for row in zip(names, dtype_names, map(tuple, shapes), strict=True)])
    return [bucket_of(next(metas) for _ in range(count)) for count in counts]


def aligned(size: int) -> int:
    """The bytes that `size` bytes take with what fills up to the next beginning."""
    return -(-size // ALIGNMENT) * ALIGNMENT
