"""Weights through memory that engines on this host share, or over gloo: one broadcast a bucket.

Each engine is reached in its own way, which keeps a failure with the engine that has it: the others' buckets go on.
"""

import logging
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import chain, islice
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
from vime.backends.megatron_utils.update_weight.transports.links import Link, link_to
from vime.backends.vllm_utils.weight_transfer.shared_memory import Memory
from vime.backends.vllm_utils.weight_transfer.views import view_of

logger = logging.getLogger(__name__)

_PLACES = 3
"""Buckets under way at once, each in memory of its own, which all engines are sent from."""

_Packed = tuple[int, Memory, int]
"""The place of a bucket, its memory, and how many bytes there are the bucket's."""


class GlooTransport:
    """`address` is where engines reach this process, `timeout` in seconds. Without `share` engines on this host, too, are
    sent to over gloo."""

    name = "gloo"
    bucket_limit = 32 * 1024**2

    def __init__(self, *, address: str = "127.0.0.1", timeout: float = 300.0, share: bool = True) -> None:
        self._address, self._timeout, self._share = address, timeout, share
        self._links: dict[str, Link] = {}
        self._places: list[Memory | None] = [None] * _PLACES

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

    def stage(self, tensors: Tensors, plan: WeightPlan) -> Iterator[_Packed]:
        """The buckets; as many as there are places for are packed at once."""
        packed = self._packed(tensors, plan)
        return chain(list(islice(packed, _PLACES)), packed)

    def send(self, engines: Sequence[Engine], staged: Iterator[_Packed], plan: WeightPlan, delivery: Delivery) -> None:
        """All buckets to all engines; see Transport."""
        _, failures = on_all([engine for engine in engines if engine.url not in self._links], self._connect)
        delivery.failed |= failures
        links = [self._links[engine.url] for engine in engines if engine.url in self._links]
        info = {**plan.update_info, "bucket_counts": [len(bucket.tensors) for bucket in plan.buckets]}
        with ThreadPoolExecutor(max(len(links), 1), thread_name_prefix="weight-sync") as pool:
            answers: dict[str, Future] = {}
            try:
                self._broadcast(links, staged, delivery, lambda: answers.update(self._ask(pool, links, info)))
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
        self, links: list[Link], staged: Iterator[_Packed], delivery: Delivery, announce: Callable[[], None]
    ) -> None:
        """Send what is packed, and have the next packed where the first that was sent has arrived."""
        under_way: deque[list[tuple[Link, Any]]] = deque()
        for number, packed in enumerate(staged):
            if number == 0:
                delivery.touched |= {link.engine.url for link in links}
                announce()
            alive = [link for link in links if link.engine.url not in delivery.failed]
            under_way.append(list(_sent(alive, packed, delivery)))
            if len(under_way) == _PLACES:
                _wait(under_way.popleft(), delivery)
        for works in under_way:
            _wait(works, delivery)

    def _ask(self, pool: ThreadPoolExecutor, links: list[Link], info: dict[str, Any]) -> dict[str, Future]:
        """Have every engine take the buckets; one that refuses will not receive, so it is left at once."""
        answers = {link.engine.url: pool.submit(link.engine.update_weights, info) for link in links}
        for link in links:
            answers[link.engine.url].add_done_callback(
                lambda answer, link=link: link.close() if answer.exception() else None
            )
        return answers

    def _packed(self, tensors: Tensors, plan: WeightPlan) -> Iterator[_Packed]:
        """Each bucket in its place; the one that was there before must have arrived."""
        for number, (bucket, pairs) in enumerate(by_bucket(tensors, plan)):
            place = number % _PLACES
            memory = self._places[place]
            if memory is None or memory.bytes.numel() < bucket.nbytes:
                memory = self._places[place] = Memory(bucket.nbytes)
            for (_, tensor), offset, meta in zip(pairs, bucket.offsets, bucket.tensors, strict=True):
                view_of(memory.bytes, offset, meta.dtype, meta.shape).copy_(tensor.detach())
            yield place, memory, bucket.nbytes

    def _connect(self, engine: Engine) -> None:
        self._links[engine.url] = link_to(engine, self._address, self._timeout, self._share)

    def _drop(self, links: Sequence[Link]) -> None:
        for link in links:
            self._links.pop(link.engine.url, None)
            link.close()


def _sent(links: Sequence[Link], packed: _Packed, delivery: Delivery) -> Iterator[tuple[Link, Any]]:
    for link in links:
        with _failing_alone(link, delivery):
            yield link, link.send(*packed)


def _wait(works: Sequence[tuple[Link, Any]], delivery: Delivery) -> None:
    for link, work in works:
        with _failing_alone(link, delivery):
            link.wait(work)


@contextmanager
def _failing_alone(link: Link, delivery: Delivery) -> Iterator[None]:
    """What fails with one engine does not fail the others. That engine is left, so that it does not wait any longer."""
    try:
        yield
    except RuntimeError as error:
        logger.warning("%s receives no more buckets: %s", link.engine.url, error)
        delivery.failed[link.engine.url] = error
        link.close()
