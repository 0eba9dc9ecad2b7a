"""The engine's end of a weight transfer over gloo: runs in vLLM's workers.

One call of /update_weights describes a whole update. Each bucket is one broadcast of one buffer, and while a bucket is
loaded into the model the next ones are already on their way.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from vllm.distributed.weight_transfer.base import (
    WeightTransferEngine,
    WeightTransferInitInfo,
    WeightTransferUpdateInfo,
)
from vllm.model_executor.model_loader.mtp_validation import disable_mtp_completeness_check
from vllm.model_executor.model_loader.reload import finalize_layerwise_reload, initialize_layerwise_reload

from vime.backends.vllm_utils.weight_transfer.direct import DirectLayers
from vime.backends.vllm_utils.weight_transfer.gloo_group import GlooGroup, announce, join, reach_store
from vime.backends.vllm_utils.weight_transfer.layout import Bucket, buckets_of
from vime.backends.vllm_utils.weight_transfer.tied_head import repair_tied_head
from vime.backends.vllm_utils.weight_transfer.views import view_of

AHEAD = 2
"""Buckets under way beside the one that is being loaded."""

KEPT = 64 * 1024**2
"""Bytes of a bucket up to which its buffer is kept for the next: fresh memory costs as much time as the transfer."""

ENOUGH = 16 * 1024**2
"""Bytes of tensors for which load_weights is called."""


@dataclass
class GlooInitInfo(WeightTransferInitInfo):
    """Where to meet the trainer, and the ranks: 0 is the trainer, this engine's workers follow from `rank_offset`."""

    master_address: str
    master_port: int
    rank_offset: int
    world_size: int
    timeout: float = 300.0


@dataclass
class GlooUpdateInfo(WeightTransferUpdateInfo):
    """All tensors of an update in order, and how many each bucket holds."""

    names: list[str]
    dtype_names: list[str]
    shapes: list[list[int]]
    bucket_counts: list[int]

    def __post_init__(self) -> None:
        self.buckets = buckets_of(self.names, self.dtype_names, self.shapes, self.bucket_counts)


class GlooWeightTransferEngine(WeightTransferEngine[GlooInitInfo, GlooUpdateInfo]):
    """Full weights in Hugging Face form, broadcast by the trainer, loaded layer by layer; tied heads follow on a CPU."""

    init_info_cls = GlooInitInfo
    update_info_cls = GlooUpdateInfo
    _group: GlooGroup | None = None
    _buffers: tuple[torch.Tensor, ...] = ()

    def init_transfer_engine(self, init_info: GlooInitInfo) -> None:
        """Join the trainer's group; an earlier one is left."""
        self.shutdown()
        parallel = self.parallel_config
        rank = parallel.data_parallel_index * parallel.world_size + parallel.rank + init_info.rank_offset
        store = reach_store(init_info.master_address, init_info.master_port, init_info.timeout)
        announce(store, rank)
        self._group = join(store, rank, init_info.world_size, init_info.timeout)

    def start_weight_update(self) -> None:
        """Make the layers ready to take new weights. Nothing may be generated until the update is finished."""
        self._direct = DirectLayers(self.model)
        initialize_layerwise_reload(self.model)

    def receive_weights(self, update_info: GlooUpdateInfo) -> None:
        """Take all buckets. Where loading fails, the rest is still received, so that the group stays usable."""
        failure: Exception | None = None
        rest: list[tuple[str, torch.Tensor]] = []
        for bucket, buffer in self._received(update_info.buckets):
            if failure is None:
                try:
                    rest = self._load(bucket, buffer, rest)
                except Exception as error:
                    failure = error
        if failure is not None:
            raise failure
        if rest:
            self._load_weights(rest)

    def finish_weight_update(self) -> None:
        """Put the layers in use. What was not sent keeps its old weights."""
        finalize_layerwise_reload(self.model, self.model_config)
        repair_tied_head(self.model)

    def shutdown(self) -> None:
        """Leave the trainer's group."""
        if self._group is not None:
            self._group.close()
            self._group = None
            # A broadcast that was given up may still write there.
            self._buffers = ()

    def _received(self, buckets: list[Bucket]) -> Iterator[tuple[Bucket, torch.Tensor]]:
        if self._group is None:
            raise RuntimeError("there is no group with a trainer: /init_weight_transfer_engine comes first")
        under_way: deque = deque()
        self._buffers = self._buffers or (torch.empty(0, dtype=torch.uint8),) * (AHEAD + 1)
        for number, bucket in enumerate(buckets):
            buffer = self._buffer(number % (AHEAD + 1), bucket.nbytes)
            under_way.append((bucket, buffer, self._group.broadcast(buffer)))
            if len(under_way) > AHEAD:
                yield self._arrived(*under_way.popleft())
        while under_way:
            yield self._arrived(*under_way.popleft())

    def _buffer(self, place: int, nbytes: int) -> torch.Tensor:
        """Memory for a bucket. What was in this place before is overwritten."""
        if nbytes > KEPT:
            return torch.empty(nbytes, dtype=torch.uint8)
        if self._buffers[place].numel() < nbytes:
            fresh = torch.empty(nbytes, dtype=torch.uint8)
            self._buffers = (*self._buffers[:place], fresh, *self._buffers[place + 1 :])
        return self._buffers[place][:nbytes]

    def _arrived(
        self, bucket: Bucket, buffer: torch.Tensor, work: torch.distributed.Work
    ) -> tuple[Bucket, torch.Tensor]:
        self._group.wait(work)
        return bucket, buffer

    def _load(
        self, bucket: Bucket, buffer: torch.Tensor, rest: list[tuple[str, torch.Tensor]]
    ) -> list[tuple[str, torch.Tensor]]:
        """Load what goes into layers directly. Copies of what does not join `rest`, until those are worth a call of
        load_weights, which goes over all modules several times; what is left of them."""
        tensors = (
            (meta.name, view_of(buffer, offset, meta.dtype, meta.shape).to(self.device))
            for meta, offset in zip(bucket.tensors, bucket.offsets, strict=True)
        )
        rest = rest + [(name, tensor.clone()) for name, tensor in self._direct.load(tensors)]
        if sum(tensor.nbytes for _, tensor in rest) < ENOUGH:
            return rest
        self._load_weights(rest)
        return []

    def _load_weights(self, tensors: list[tuple[str, torch.Tensor]]) -> None:
        with disable_mtp_completeness_check():
            self.model.load_weights(tensors)
