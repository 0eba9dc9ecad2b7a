"""Weights through CUDA IPC to engines that share this process's GPU, through vLLM's own engine for it.

One buffer, exported once, is filled again for every chunk; an engine has read it when its /update_weights answers. The
engines' servers need VLLM_ALLOW_INSECURE_SERIALIZATION=1. Needs a GPU; was not run.
"""

import base64
import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from vime.backends.megatron_utils.update_weight.engines import (
    Delivery,
    Engine,
    Tensors,
    on_all,
    put_back,
    start_update,
)
from vime.backends.megatron_utils.update_weight.plan import WeightPlan, by_bucket


class IpcTransport:
    """`buffer_bytes` is the size of the shared buffer; the largest tensor must fit."""

    name = "ipc"
    bucket_limit = 1024**3

    def __init__(self, *, buffer_bytes: int, produce: Callable[..., Iterator[Any]] | None = None) -> None:
        self._buffer_bytes, self._produce = buffer_bytes, produce or _produce

    def connect(self, engines: Sequence[Engine]) -> None:
        """Tell each engine that chunks come packed."""
        _, failures = on_all(engines, lambda engine: engine.init_weight_transfer_engine({"packed": True}))
        for error in failures.values():
            raise error

    def begin(self, engine: Engine) -> None:
        """Open the update."""
        start_update(engine)

    def cancel(self, engine: Engine) -> None:
        """Close the update with the old weights."""
        put_back(engine)

    def commit(self, engine: Engine, version: str) -> None:
        """Close the update with the new weights."""
        engine.finish_weight_update(version)

    def stage(self, tensors: Tensors, plan: WeightPlan) -> Tensors:
        """Nothing is done ahead."""
        return tensors

    def send(self, engines: Sequence[Engine], tensors: Tensors, plan: WeightPlan, delivery: Delivery) -> None:
        """Chunk after chunk; the buffer is filled again when every engine has read it."""
        pairs = (pair for _, bucket in by_bucket(tensors, plan) for pair in bucket)
        for chunk in self._produce(pairs, max(self._buffer_bytes, max(tensor.nbytes for tensor in plan.tensors))):
            alive = [engine for engine in engines if engine.url not in delivery.failed]
            delivery.touched |= {engine.url for engine in alive}
            info = chunk_info(chunk)
            _, failures = on_all(alive, lambda engine, info=info: engine.update_weights(info))
            delivery.failed |= failures

    def close(self) -> None:
        """The buffer goes with the send."""


def chunk_info(chunk: Any) -> dict[str, Any]:
    """A packed chunk as vLLM's /update_weights takes it. A CUDA handle travels pickled, which is vLLM's own format."""
    handle = base64.b64encode(pickle.dumps(chunk.ipc_handle)).decode()
    described = {"names": chunk.names, "dtype_names": chunk.dtype_names, "shapes": chunk.shapes}
    return {**described, "tensor_sizes": chunk.tensor_sizes, "ipc_handles_pickled": handle}


def _produce(pairs: Iterator[Any], buffer_bytes: int) -> Iterator[Any]:
    import torch
    from vllm.distributed.weight_transfer.packed_tensor import packed_ipc_producer

    gpu = str(torch.cuda.get_device_properties(torch.cuda.current_device()).uuid)
    return packed_ipc_producer(
        iterator=pairs,
        gpu_uuid=gpu,
        post_iter_func=lambda pair: pair[1].detach().cuda(),
        buffer_size_bytes=buffer_bytes,
    )
