"""Rollout that goes on while the training trains.

A worker thread with an event loop of its own takes groups from the data source, generates them with
:func:`slime.rollout.sglang_rollout.generate_and_rm_group`, and puts the finished ones into a queue from which each call
of the rollout function takes a batch. As many groups are in flight as the SGLang engines serve at a time, and what is
in flight when a batch is complete stays in flight for the next one.

    --rollout-function-path slime.rollout.fully_async_rollout.generate_rollout_fully_async

A group with an aborted sample goes back to the data source and starts over with the weights of then.
"""

from __future__ import annotations

import asyncio
import atexit
import logging
import queue
import threading
import time

from slime.rollout.sglang_rollout import GenerateState, generate_and_rm_group
from slime.utils.async_utils import run
from slime.utils.types import Sample

__all__ = ["AsyncRolloutWorker", "generate_rollout_fully_async"]

logger = logging.getLogger("slime.rollout.fully_async")

# The one worker of this process, so that what is in flight outlives a rollout.
_workers: list[AsyncRolloutWorker] = []
_workers_lock = threading.Lock()


def _the_worker(args, data_buffer) -> AsyncRolloutWorker:
    """The worker, started anew when there is none that lives."""
    with _workers_lock:
        _workers[:] = [worker for worker in _workers if worker.is_alive()]
        if not _workers:
            engines = max(1, args.rollout_num_gpus // args.rollout_num_gpus_per_engine)
            _workers.append(
                AsyncRolloutWorker(args, data_buffer, concurrency=args.sglang_server_concurrency * engines)
            )
            _workers[0].start()
        return _workers[0]


@atexit.register
def _stop_workers() -> None:
    with _workers_lock:
        while _workers:
            _workers.pop().stop()


class AsyncRolloutWorker:
    """The thread that never waits for a batch to be full."""

    def __init__(self, args, data_buffer, concurrency: int):
        self.args = args
        self.data_buffer = data_buffer
        self.concurrency = concurrency
        self.state = GenerateState(args)
        self.output_queue: queue.Queue[tuple[int, list[Sample]]] = queue.Queue(maxsize=1000)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="fully-async-rollout", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join(timeout=5)

    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def queue_size(self) -> int:
        return self.output_queue.qsize()

    def get_completed_groups(self, at_most: int) -> list[tuple[int, list[Sample]]]:
        """Finished groups in the order in which they ended; what is over `at_most` waits for the next call."""
        completed = []
        while len(completed) < at_most and not self.output_queue.empty():
            completed.append(self.output_queue.get_nowait())
        return completed

    def _run(self) -> None:
        asyncio.run(self._loop())

    async def _loop(self) -> None:
        active: set[asyncio.Task] = set()
        group_id = 0
        while not self._stopping.is_set():
            active = {task for task in active if not task.done()}
            for group in self.data_buffer.get_samples(self.concurrency - len(active)):
                task = asyncio.create_task(self._generate(group_id, group))
                active.add(task)
                group_id += 1
            await asyncio.sleep(0.1)
        if active:
            logger.info("fully-async: %d groups are still in flight at the end", len(active))
            await asyncio.wait(active, timeout=30)

    async def _generate(self, group_id: int, group: list[Sample]) -> None:
        try:
            result = await generate_and_rm_group(self.args, group, sampling_params=self.state.sampling_params.copy())
        except Exception:
            logger.exception("fully-async: group %d failed and goes back to the data source", group_id)
            self.data_buffer.add_samples([group])
            return
        if any(sample.status == Sample.Status.ABORTED for sample in _samples_of(result)):
            self.data_buffer.add_samples([group])
        else:
            self.output_queue.put((group_id, result))


def _samples_of(group) -> list[Sample]:
    return [one for item in group for one in (item if isinstance(item, list) else [item])]


async def _generate_rollout_async(args, rollout_id: int, data_buffer) -> list[list[Sample]]:
    worker = _the_worker(args, data_buffer)
    target = args.rollout_batch_size
    started = time.time()
    logger.info("fully-async rollout %d: target=%d queue_warm=%d", rollout_id, target, worker.queue_size())

    collected: list[list[Sample]] = []
    while len(collected) < target:
        ready = worker.get_completed_groups(target - len(collected))
        collected += [group for _, group in ready]
        if not ready:
            await asyncio.sleep(0.05)

    logger.info("fully-async rollout %d: %.1f s, %d left", rollout_id, time.time() - started, worker.queue_size())
    return sorted(collected, key=lambda group: _samples_of(group)[0].index)


def generate_rollout_fully_async(args, rollout_id: int, data_buffer, evaluation: bool = False):
    """For ``--rollout-function-path``."""
    if evaluation:
        raise ValueError("the fully-async rollout has no evaluation; use another function for it")
    return run(_generate_rollout_async(args, rollout_id, data_buffer))
