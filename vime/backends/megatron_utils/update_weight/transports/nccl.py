"""Weights over NCCL, through vLLM's own engine for it: one group of this process (rank 0) and all engines' workers.

One /update_weights describes everything; vLLM packs and double-buffers. NCCL has no deadlines: an engine that dies in
mid-update leaves the others and this process waiting until NCCL's watchdog ends them. Needs GPUs; was not run.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import accumulate
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
from vime.utils.network import get_free_port

BUFFERS = 2
"""How many packed buffers are under way at once."""


class NcclTransport:
    """`address` is where engines reach this process."""

    name = "nccl"
    bucket_limit = 1024**3

    def __init__(
        self,
        *,
        address: str,
        buffer_bytes: int,
        open_group: Callable[[dict[str, Any]], Any] | None = None,
        produce: Callable[..., None] | None = None,
    ) -> None:
        self._address, self._buffer_bytes = address, buffer_bytes
        self._open_group, self._produce = open_group or _open_group, produce or _produce
        self._group: Any = None
        self._joined: set[str] = set()

    def init_infos(self, workers: Sequence[int], port: int) -> list[dict[str, Any]]:
        """What engines of so many workers each are told to join: ranks follow each other, the trainer is 0."""
        *offsets, world = accumulate(workers, initial=1)
        shared = {"master_address": self._address, "master_port": port, "world_size": world, "packed": True}
        shared |= {"packed_buffer_size_bytes": self._buffer_bytes, "packed_num_buffers": BUFFERS}
        return [{**shared, "rank_offset": offset} for offset in offsets]

    def connect(self, engines: Sequence[Engine]) -> None:
        """Form the group anew with all `engines`; every rank must come, so they are told at the same time."""
        self.close()
        workers, failures = on_all(engines, lambda engine: engine.world_size())
        for error in failures.values():
            raise error
        infos = self.init_infos([workers[engine.url] for engine in engines], get_free_port(20_000))
        with ThreadPoolExecutor(len(engines)) as pool:
            joined = [
                pool.submit(engine.init_weight_transfer_engine, info)
                for engine, info in zip(engines, infos, strict=True)
            ]
            self._group = self._open_group(infos[0])
            for answer in joined:
                answer.result()
        self._joined = {engine.url for engine in engines}

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
        """Everything to everybody in the group; a send to some of them only is not possible over one group."""
        if self._group is None or {engine.url for engine in engines} != self._joined:
            raise RuntimeError(
                "over NCCL all engines are sent to at once; restart those that failed, then connect again"
            )
        delivery.touched |= {engine.url for engine in engines}
        pool = ThreadPoolExecutor(len(engines), thread_name_prefix="weight-sync")
        try:
            answers: dict[str, Future] = {
                engine.url: pool.submit(engine.update_weights, plan.update_info) for engine in engines
            }
            pairs = (pair for _, bucket in by_bucket(tensors, plan) for pair in bucket)
            self._produce(pairs, self._group, self._buffer_bytes)
            delivery.failed |= {url: error for url, answer in answers.items() if (error := answer.exception())}
        finally:
            # After an error of the trainer's the engines wait for it inside NCCL, and do not answer.
            pool.shutdown(wait=False)

    def close(self) -> None:
        """Leave the group."""
        if self._group is not None:
            self._group.destroy()
            self._group, self._joined = None, set()


def _open_group(info: dict[str, Any]) -> Any:
    from vllm.distributed.weight_transfer.nccl_common import trainer_init

    return trainer_init(info)


def _produce(pairs: Any, group: Any, buffer_bytes: int) -> None:
    from vllm.distributed.weight_transfer.packed_tensor import packed_nccl_broadcast_producer

    packed_nccl_broadcast_producer(
        iterator=iter(pairs),
        group=group,
        src=0,
        post_iter_func=lambda pair: pair[1].detach().cuda(non_blocking=True),
        buffer_size_bytes=buffer_bytes,
        num_buffers=BUFFERS,
    )
