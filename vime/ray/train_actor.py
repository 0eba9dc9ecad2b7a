"""A trainer rank as a Ray actor: its environment first, then torch."""

import os
from argparse import Namespace
from collections.abc import Mapping, Sequence
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
        return _own_address(self._config), get_free_port()

    def init(self, master: tuple[str, int], role: str, with_ref: bool | None) -> int:
        """Join the other ranks, build the model, load it; the number of the first rollout."""
        from vime.backends.megatron_utils.actor import MegatronTrainRayActor

        self._trainer = MegatronTrainRayActor(self._world_size, self._rank, *master, make_sync=self._weight_sync)
        return self._trainer.init(self._config, role, with_ref)

    def train(self, rollout_id: int, rollout_data: Any) -> Mapping[str, float]:
        """Train on one rollout; the metrics."""
        import ray

        return self._trainer.train(rollout_id, ray.get(rollout_data.inner))

    def update_weights(self) -> Mapping[str, float]:
        """Bring the weights to the engines; the metrics, of rank 0 alone."""
        report = self._trainer.update_weights()
        if report is None:
            return {}
        speed = report.nbytes / report.seconds if report.seconds else 0.0
        return {
            "perf/update_weights_implementation_time": report.seconds,
            "perf/update_weights_bytes_per_s": speed,
            "rollout/weight_version": float(report.version),
        }

    def call(self, method: str, *arguments: Any) -> Any:
        """Another method of the trainer."""
        return getattr(self._trainer, method)(*arguments)

    def _weight_sync(self, args: Namespace, urls: Sequence[str]) -> Any:
        from vime.backends.megatron_utils.update_weight.session import WeightSync
        from vime.backends.megatron_utils.update_weight.transports.choose import make_transport

        transport = make_transport(args, _own_address(self._config))
        return WeightSync(urls, transport, bucket_bytes=args.update_weight_buffer_size)


def _own_address(config: Config) -> str:
    return "127.0.0.1" if config.device.is_cpu else get_host_info()[1].strip("[]")
