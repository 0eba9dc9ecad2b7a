"""Weights over gloo: one broadcast a bucket, to each engine through a group of its own.

A group an engine keeps a failure with the engine that has it: the others' broadcasts go on.
"""

import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import torch

from vime.backends.megatron_utils.update_weight.engines import (
    Delivery,
    Engine,
    Tensors,
    on_all,
    put_back,
    start_update,
)
from vime.backends.megatron_utils.update_weight.plan import WeightPlan, by_bucket
from vime.backends.vllm_utils.weight_transfer.gloo_group import GlooGroup, all_here, join, open_store
from vime.backends.vllm_utils.weight_transfer.layout import Bucket
from vime.backends.vllm_utils.weight_transfer.views import view_of

_BUFFERS = 2
"""Buckets under way at once."""


@dataclass
class _Link:
    """The way to one engine."""

    engine: Engine
    group: GlooGroup


class GlooTransport:
    """`address` is where engines reach this process, `workers` how many workers each has, `timeout` in seconds."""

    name = "gloo"
    bucket_limit = 32 * 1024**2

    def __init__(self, *, address: str = "127.0.0.1", workers: int = 1, timeout: float = 300.0) -> None:
        self._address, self._workers, self._timeout = address, workers, timeout
        self._links: dict[str, _Link] = {}
        self._buffers: list[torch.Tensor] = []

    def connect(self, engines: Sequence[Engine]) -> None:
        """Meet the workers of each engine. Raises the first engine's error where one cannot be met."""
        _, failures = on_all(engines, self._connect)
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

    def send(self, engines: Sequence[Engine], tensors: Tensors, plan: WeightPlan, delivery: Delivery) -> None:
        """All buckets to all engines; see Transport."""
        _, failures = on_all([engine for engine in engines if engine.url not in self._links], self._connect)
        delivery.failed |= failures
        links = [self._links[engine.url] for engine in engines if engine.url in self._links]
        info = {**plan.update_info, "bucket_counts": [len(bucket.tensors) for bucket in plan.buckets]}
        with ThreadPoolExecutor(max(len(links), 1), thread_name_prefix="weight-sync") as pool:
            answers: dict[str, Future] = {}
            try:
                self._broadcast(links, tensors, plan, delivery, lambda: answers.update(self._ask(pool, links, info)))
            except BaseException:
                self._drop(links)
                raise
            for url, answer in answers.items():
                if error := answer.exception():
                    delivery.failed[url] = error if isinstance(error, Exception) else RuntimeError(str(error))
        self._drop([link for link in links if link.engine.url in delivery.failed])

    def close(self) -> None:
        """Leave all groups."""
        self._drop(list(self._links.values()))

    def _broadcast(
        self, links: list[_Link], tensors: Tensors, plan: WeightPlan, delivery: Delivery, announce: Any
    ) -> None:
        """Pack a bucket while the ones before it are on their way."""
        under_way: deque[list[tuple[_Link, torch.distributed.Work]]] = deque()
        for number, (bucket, pairs) in enumerate(by_bucket(tensors, plan)):
            if len(under_way) == _BUFFERS:
                _wait(under_way.popleft(), delivery)
            buffer = self._packed(number % _BUFFERS, bucket, pairs)
            if number == 0:
                delivery.touched |= {link.engine.url for link in links}
                announce()
            alive = [link for link in links if link.engine.url not in delivery.failed]
            under_way.append([(link, link.group.broadcast(buffer)) for link in alive])
        for works in under_way:
            _wait(works, delivery)

    def _ask(self, pool: ThreadPoolExecutor, links: list[_Link], info: dict[str, Any]) -> dict[str, Future]:
        """Have every engine take the buckets; one that refuses will not receive, so its group is left at once."""
        answers = {link.engine.url: pool.submit(link.engine.update_weights, info) for link in links}
        for link in links:
            answers[link.engine.url].add_done_callback(
                lambda answer, group=link.group: group.close() if answer.exception() else None
            )
        return answers

    def _packed(self, which: int, bucket: Bucket, pairs: Sequence[tuple[str, torch.Tensor]]) -> torch.Tensor:
        while len(self._buffers) <= which:
            self._buffers.append(torch.empty(0, dtype=torch.uint8))
        if self._buffers[which].numel() < bucket.nbytes:
            self._buffers[which] = torch.empty(bucket.nbytes, dtype=torch.uint8)
        buffer = self._buffers[which][: bucket.nbytes]
        for (_, tensor), offset, meta in zip(pairs, bucket.offsets, bucket.tensors, strict=True):
            view_of(buffer, offset, meta.dtype, meta.shape).copy_(tensor.detach())
        return buffer

    def _connect(self, engine: Engine) -> None:
        world = 1 + self._workers
        store = open_store(self._address, self._timeout)
        info = {"master_address": self._address, "master_port": store.port, "rank_offset": 1, "world_size": world}
        with ThreadPoolExecutor(1, thread_name_prefix="weight-sync") as pool:
            answer = pool.submit(engine.init_weight_transfer_engine, {**info, "timeout": self._timeout})
            while not all_here(store, world):
                if answer.done():
                    answer.result()
                    raise RuntimeError(f"{engine.url} answered without joining the group of {world} ranks")
                time.sleep(0.002)
            group = join(store, 0, world, self._timeout)
            answer.result()
        self._links[engine.url] = _Link(engine, group)

    def _drop(self, links: Sequence[_Link]) -> None:
        for link in links:
            self._links.pop(link.engine.url, None)
            link.group.close()


def _wait(works: list[tuple[_Link, torch.distributed.Work]], delivery: Delivery) -> None:
    for link, work in works:
        try:
            link.group.wait(work)
        except RuntimeError as error:
            delivery.failed[link.engine.url] = error
