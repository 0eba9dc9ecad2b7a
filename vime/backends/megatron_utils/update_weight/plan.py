"""The plan of a weight sync: which tensors travel, in which order, in which buckets. Pure; every transport follows it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from vime.backends.vllm_utils.weight_transfer.layout import Bucket, TensorMeta, aligned, bucket_of
from vime.errors import travels

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class WeightPlan:
    """Every tensor once, in the order in which the trainer yields them, cut into buckets."""

    buckets: tuple[Bucket, ...]

    @property
    def tensors(self) -> tuple[TensorMeta, ...]:
        """All tensors in order."""
        return tuple(tensor for bucket in self.buckets for tensor in bucket.tensors)

    @property
    def nbytes(self) -> int:
        """Bytes of all values, without what aligns them."""
        return sum(tensor.nbytes for tensor in self.tensors)

    @property
    def update_info(self) -> dict[str, Any]:
        """Names, dtypes and shapes as vLLM's /update_weights takes them."""
        return update_info(self.tensors)


@travels
class PlanMismatch(ValueError):
    """The trainer yielded something else than was planned; `name` says which tensor came or was missed."""

    def __init__(self, name: str, what: str) -> None:
        super().__init__(
            f"{name}: {what}. Every rank must yield the tensors of the plan in its order; plan again after a change "
            "of the model."
        )
        self.name = name


def plan_weights(tensors: Iterable[TensorMeta], bucket_bytes: int) -> WeightPlan:
    """Cut `tensors` into buckets of at most `bucket_bytes`; a larger tensor has a bucket of its own.

    What belongs to one block (`...mlp.gate_proj.weight`, `...mlp.up_proj.weight`) is cut only where it has no room in one
    bucket: engines make one weight of such tensors, without a copy where they come together.
    Raises ValueError for a name that comes twice.
    """
    seen: set[str] = set()
    buckets: list[list[TensorMeta]] = [[]]
    size = 0
    for _, block in groupby(tensors, _block):
        members = list(block)
        whole = sum(aligned(tensor.nbytes) for tensor in members)
        for number, tensor in enumerate(members):
            if tensor.name in seen:
                raise ValueError(f"{tensor.name} comes twice")
            seen.add(tensor.name)
            needed = aligned(tensor.nbytes) if number else whole
            if buckets[-1] and size + needed > bucket_bytes:
                buckets.append([])
                size = 0
            buckets[-1].append(tensor)
            size += aligned(tensor.nbytes)
    return WeightPlan(tuple(bucket_of(bucket) for bucket in buckets if bucket))


def _block(tensor: TensorMeta) -> str:
    """The module whose module has the tensor."""
    return tensor.name.rsplit(".", 2)[0]


def describe(tensors: "Iterable[tuple[str, Tensor]]") -> Iterator[TensorMeta]:
    """What the wire says of named tensors."""
    for name, tensor in tensors:
        yield TensorMeta(name, str(tensor.dtype).removeprefix("torch."), tuple(tensor.shape))


def update_info(tensors: Iterable[TensorMeta]) -> dict[str, Any]:
    """The lists by which vLLM describes tensors: `names`, `dtype_names`, `shapes`."""
    tensors = tuple(tensors)
    return {
        "names": [tensor.name for tensor in tensors],
        "dtype_names": [tensor.dtype for tensor in tensors],
        "shapes": [list(tensor.shape) for tensor in tensors],
    }


def by_bucket(
    tensors: "Iterable[tuple[str, Tensor]]", plan: WeightPlan
) -> "Iterator[tuple[Bucket, list[tuple[str, Tensor]]]]":
    """Each bucket with its tensors, checked against the plan. Raises PlanMismatch at the first that differs."""
    source = iter(tensors)
    for bucket in plan.buckets:
        yield bucket, [_expected(source, meta) for meta in bucket.tensors]
    for name, _ in source:
        raise PlanMismatch(name, "came after the last tensor of the plan")


def _expected(source: "Iterator[tuple[str, Tensor]]", meta: TensorMeta) -> "tuple[str, Tensor]":
    pair = next(source, None)
    if pair is None:
        raise PlanMismatch(meta.name, "did not come")
    (found,) = describe([pair])
    if found != meta:
        raise PlanMismatch(meta.name, f"{found.name} {found.dtype} {list(found.shape)} came in its place")
    return pair
