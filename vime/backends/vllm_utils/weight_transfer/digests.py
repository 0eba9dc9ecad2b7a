"""A digest of a weight by some of its columns, the same on both ends. Needs torch, not vLLM.

An optimizer's step changes every row, so that a fixed sample of columns shows a sync that was left out or half done at a
small part of the cost of hashing everything. The comparison is exact, to the bit.
"""

import hashlib
import zlib
from collections.abc import Iterable, Iterator

import torch

COLUMNS = 16
"""How many columns of a matrix are looked at."""


def columns_of(name: str, width: int) -> list[int]:
    """The columns of the weight `name` that are looked at: spread over the width, at places that depend on the name."""
    count = min(COLUMNS, width)
    first = zlib.crc32(name.encode())
    return sorted({(first + step * width // count) % width for step in range(count)})


def digest_of(values: torch.Tensor) -> str:
    """A digest of values and dtype. Zeros of both signs are equal."""
    plain = (values.detach().to("cpu") + 0.0).contiguous()
    return hashlib.blake2b(plain.view(torch.uint8).numpy().tobytes(), digest_size=12).hexdigest()


def tensor_digest(name: str, tensor: torch.Tensor, dtype: str) -> str:
    """The digest of a tensor in Hugging Face form, as an engine holds it that computes in `dtype`."""
    seen = tensor[:, columns_of(name, tensor.shape[1])] if tensor.dim() == 2 else tensor
    return digest_of(seen.to(getattr(torch, dtype)))


def recorded(
    tensors: Iterable[tuple[str, torch.Tensor]], dtype: str, into: dict[str, str]
) -> Iterator[tuple[str, torch.Tensor]]:
    """Hand `tensors` through, and write their digests down."""
    for name, tensor in tensors:
        into[name] = tensor_digest(name, tensor, dtype)
        yield name, tensor
