"""The way from the trainer to one engine's workers: shared memory where all of them are on this host, else gloo."""

import contextlib
import logging
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from vime.backends.megatron_utils.update_weight.engines import Engine
from vime.backends.vllm_utils.weight_transfer.gloo_group import GlooGroup, all_here, decide, join, open_store
from vime.backends.vllm_utils.weight_transfer.shared_memory import Meeting, Memory, SharedGroup, can_share

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Link:
    """A way to an engine. Where it is broken, or the other end left, a RuntimeError is raised."""

    engine: Engine
    group: GlooGroup | SharedGroup

    def send(self, place: int, memory: Memory, nbytes: int) -> Any:
        """Begin to send the first `nbytes` of `memory`, the one of that place; to be left alone until `wait` returned."""
        if isinstance(self.group, SharedGroup):
            return self.group.send(place, memory, nbytes)
        return self.group.broadcast(memory.bytes[:nbytes])

    def wait(self, sent: Any) -> None:
        """Until what `send` returned is done."""
        self.group.wait(sent)

    def close(self) -> None:
        """Leave. Whoever waits for this end learns of it at once."""
        self.group.close()


def link_to(engine: Engine, address: str, timeout: float, share: bool) -> Link:
    """Meet the workers of an engine, which reach this process at `address`. Raises what the engine said."""
    workers = engine.world_size()
    world = 1 + workers
    store = open_store(address, timeout)
    info = {"master_address": address, "master_port": store.port, "rank_offset": 1, "world_size": world}
    with contextlib.ExitStack() as stack:
        meeting = stack.enter_context(Meeting()) if share and can_share() else None
        pool = stack.enter_context(ThreadPoolExecutor(1, thread_name_prefix="weight-sync"))
        info |= {"timeout": timeout, "shared": meeting and meeting.info}
        answer = pool.submit(engine.init_weight_transfer_engine, info)
        while not all_here(store, world):
            if answer.done():
                answer.result()
                raise RuntimeError(f"{engine.url} answered without joining the group of {world} ranks")
            time.sleep(0.002)
        shares = decide(store, world)
        logger.info("weights go to %s %s", engine.url, "through shared memory" if shares else "over gloo")
        group = meeting.accept(workers, timeout) if shares else join(store, 0, world, timeout)
        answer.result()
    return Link(engine, group)
