"""A trainer rank as a Ray actor: its environment first, then torch."""

import os
from collections.abc import Mapping
from typing import Any

from vime.config.resolve import Config
from vime.utils.network import get_free_port, get_host_info


class TrainRayActor:
    """One rank. Nothing of torch is imported before its environment stands."""

    def __init__(self, config: Config, world_size: int, rank: int, environment: Mapping[str, str]) -> None:
        os.environ.update(environment)
        self._config, self._world_size, self._rank = config, world_size, rank
        self._trainer: Any = None

    def get_master_addr_and_port(self) -> tuple[str, int]:
        """Where the ranks meet; rank 0's host. On a CPU loopback."""
        host = "127.0.0.1" if self._config.device.is_cpu else get_host_info()[1].strip("[]")
        return host, get_free_port()

    def init(self, master: tuple[str, int], role: str, with_ref: bool) -> int:
        """Join the other ranks, build the model, load it; the number of the first rollout."""
        from vime.backends.megatron_utils.actor import MegatronTrainRayActor

        self._trainer = MegatronTrainRayActor(self._world_size, self._rank, *master)
        return self._trainer.init(self._config, role, with_ref=with_ref)

    def call(self, method: str, *arguments: Any) -> Any:
        """A method of the trainer."""
        return getattr(self._trainer, method)(*arguments)
