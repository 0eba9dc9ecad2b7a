"""The engine's end of a weight transfer over gloo, or through memory on the trainer's host: runs in vLLM's workers.

One call of /update_weights describes a whole update. Each bucket is one buffer, and while a bucket is loaded into the
model the next ones are already on their way.
"""

from dataclasses import dataclass

from vllm.distributed.weight_transfer.base import (
    WeightTransferEngine,
    WeightTransferInitInfo,
    WeightTransferUpdateInfo,
)
from vllm.model_executor.model_loader.reload import finalize_layerwise_reload, initialize_layerwise_reload

from vime.backends.vllm_utils.weight_transfer.direct import DirectLayers
from vime.backends.vllm_utils.weight_transfer.gloo_arrivals import GlooArrivals
from vime.backends.vllm_utils.weight_transfer.gloo_group import PeerLeft, announce, decided, join, reach_store
from vime.backends.vllm_utils.weight_transfer.layout import buckets_of
from vime.backends.vllm_utils.weight_transfer.loader import BucketLoader
from vime.backends.vllm_utils.weight_transfer.shared_memory import SharedArrivals, reach
from vime.backends.vllm_utils.weight_transfer.tied_head import repair_tied_head


@dataclass
class GlooInitInfo(WeightTransferInitInfo):
    """Where to meet the trainer, and the ranks: 0 is the trainer, this engine's workers follow from `rank_offset`.
    `shared` leads to memory on the trainer's host."""

    master_address: str
    master_port: int
    rank_offset: int
    world_size: int
    timeout: float = 300.0
    shared: dict[str, str] | None = None


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
    _way: GlooArrivals | SharedArrivals | None = None

    def init_transfer_engine(self, init_info: GlooInitInfo) -> None:
        """Meet the trainer: through memory where all workers share its host, else in a group. An earlier way is left."""
        self.shutdown()
        parallel = self.parallel_config
        rank = parallel.data_parallel_index * parallel.world_size + parallel.rank + init_info.rank_offset
        store = reach_store(init_info.master_address, init_info.master_port, init_info.timeout)
        shared = reach(init_info.shared, init_info.timeout)
        announce(store, rank, shares=shared is not None)
        if decided(store):
            self._way = shared
        else:
            self._way = GlooArrivals(join(store, rank, init_info.world_size, init_info.timeout))

    def start_weight_update(self) -> None:
        """Make the layers ready to take new weights. Nothing may be generated until the update is finished."""
        self._direct = DirectLayers(self.model)
        initialize_layerwise_reload(self.model)

    def receive_weights(self, update_info: GlooUpdateInfo) -> None:
        """Take all buckets. Where loading fails, the rest is still received, so that the way stays usable; it is given up,
        with its memory, where the trainer left."""
        if self._way is None:
            raise RuntimeError("there is no way to a trainer: /init_weight_transfer_engine comes first")
        parallel = self.parallel_config
        sharers = parallel.world_size * parallel.data_parallel_size
        with BucketLoader(self.model, self._direct, self.device, sharers) as loader:
            try:
                for arrival in self._way.received(update_info.buckets):
                    loader.take(arrival)
            except PeerLeft:
                self.shutdown()
                raise
            loader.finish()

    def finish_weight_update(self) -> None:
        """Put the layers in use. What was not sent keeps its old weights."""
        finalize_layerwise_reload(self.model, self.model_config)
        repair_tied_head(self.model)

    def shutdown(self) -> None:
        """Leave the trainer."""
        if self._way is not None:
            self._way.close()
            self._way = None
