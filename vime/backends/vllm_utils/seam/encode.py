"""Arrays on the wire: vLLM sends .npy files in base64, the interface speaks base64 of raw int32."""

import ast
import base64
import math
import operator
import struct
import sys
from array import array
from collections.abc import Iterable, Sequence
from typing import Any

_TYPECODES = {"u1": "B", "i1": "b", "u2": "H", "i2": "h", "u4": "I", "i4": "i", "u8": "Q", "i8": "q"}


def int_list(values: Any) -> list[int]:
    """A flat list of integers from a list, a tuple, an array or a tensor. Raises TypeError for anything else."""
    values = values.tolist() if hasattr(values, "tolist") else values
    return [operator.index(value) for value in values]


def npy_to_int32(encoded: str) -> str:
    """The integers of a base64 .npy file as base64 of raw little-endian int32, in C order."""
    values = _npy_integers(base64.b64decode(encoded))
    if values.typecode not in "BH":
        return int32_base64(values)
    return base64.b64encode(_widened(values)).decode("ascii")


def _widened(narrow: array) -> bytearray:
    """Unsigned integers as little-endian int32, moved bytes by bytes: a long answer has millions of them."""
    if sys.byteorder == "big":
        narrow.byteswap()
    raw, size = narrow.tobytes(), narrow.itemsize
    wide = bytearray(4 * len(narrow))
    for place in range(size):
        wide[place::4] = raw[place::size]
    return wide


def int32_base64(values: Iterable[int]) -> str:
    """Base64 of raw little-endian int32."""
    flat = array("i", values)
    if sys.byteorder == "big":
        flat.byteswap()
    return base64.b64encode(flat.tobytes()).decode("ascii")


def ragged(rows: Sequence[Sequence[int]]) -> tuple[list[int], list[int]]:
    """Rows laid end to end, and the offsets where each starts and the last ends."""
    flat: list[int] = []
    offsets = [0]
    for row in rows:
        flat.extend(row)
        offsets.append(len(flat))
    return flat, offsets


def _npy_integers(data: bytes) -> array:
    if data[:6] != b"\x93NUMPY":
        raise ValueError("not a .npy file")
    size_format = "<H" if data[6] == 1 else "<I"
    start = 8 + struct.calcsize(size_format)
    (size,) = struct.unpack_from(size_format, data, 8)
    header = ast.literal_eval(data[start : start + size].decode("latin-1"))
    order, kind = header["descr"][0], header["descr"][1:]
    if kind not in _TYPECODES:
        raise ValueError(f"a .npy file of {header['descr']}, not of integers")
    values = array(_TYPECODES[kind])
    values.frombytes(data[start + size :])
    if order == (">" if sys.byteorder == "little" else "<"):
        values.byteswap()
    if len(values) != math.prod(header["shape"]):
        raise ValueError(f"a .npy file of {len(values)} integers, not of {header['shape']}")
    return _c_order(values, header["shape"]) if header["fortran_order"] else values


def _c_order(values: array, shape: Sequence[int]) -> array:
    """Values stored with the first axis fastest, laid out with the last axis fastest."""
    strides, step = [], 1
    for extent in shape:
        strides.append(step)
        step *= extent
    places = [0]
    for extent, stride in zip(shape, strides, strict=True):
        places = [place + i * stride for place in places for i in range(extent)]
    return array(values.typecode, (values[place] for place in places))
