"""A trainer rank as a Ray actor: its environment first, then torch."""

import os
import socket
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from vime.config.resolve import Config
from vime.utils.network import get_host_info


class TrainRayActor:
    """One rank. Nothing of torch is imported before its environment stands."""

    def __init__(self, config: Config, world_size: int, rank: int, environment: Mapping[str, str]) -> None:
        os.environ.update(environment)
        self._config, self._world_size, self._rank = config, world_size, rank
        self._trainer: Any = None
        self._urls: tuple[str, ...] = ()

    def get_master_addr_and_port(self) -> tuple[str, int] | None:
        """Where the ranks meet: rank 0's host (on a CPU loopback) and a port that the system gives. A single rank meets nobody."""
        if self._world_size == 1:
            return None
        host = "127.0.0.1" if self._config.device.is_cpu else get_host_info()[1].strip("[]")
        with socket.socket() as given:  # one that counts up from a fixed port meets other runs that do
            given.bind((host, 0))
            return host, given.getsockname()[1]

    def init(self, master: tuple[str, int] | None, role: str, with_ref: bool | None) -> int:
        """Join the other ranks, build the model, load it; the number of the first rollout."""
        import ray

        # Megatron-core tells of every optional package that is not there, and of defaults of its own.
        warnings.filterwarnings("ignore", module=r"megatron\.")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from vime.backends.megatron_utils.actor import MegatronTrainRayActor
            from vime.backends.megatron_utils.update_weight.make import make_sync

        local_rank = visible_place(ray.get_gpu_ids(), os.environ)
        self._trainer = MegatronTrainRayActor(
            self._world_size, self._rank, *(master or (None, None)), make_sync, local_rank
        )
        return self._trainer.init(self._config, role, with_ref)

    def train(self, rollout_id: int, rollout_data: Any) -> Mapping[str, float]:
        """Train on one rollout; the metrics."""
        import ray

        return self._trainer.train(rollout_id, ray.get(rollout_data.inner))

    def set_rollout_engines(self, urls: Sequence[str]) -> None:
        """Say which engines get the weights."""
        self._urls = tuple(urls)
        self._trainer.set_rollout_engines(self._urls)

    def update_weights(self) -> Mapping[str, float]:
        """Bring the weights to the engines and ask them a probe; the metrics, of rank 0 alone."""
        report = self._trainer.update_weights()
        metrics = {} if report is None else _figures(report)
        if self._config.args.weight_sync_probe and self._urls:
            metrics |= self._probe()
        return metrics

    def _probe(self) -> Mapping[str, float]:
        from vime.backends.megatron_utils.update_weight.after_sync import probe_engines
        from vime.learning.agreement import bounds_of

        args = self._config.args
        found = probe_engines(self._urls, args, self._trainer.log_probs, bounds_of(args))
        if found is None:
            return {}
        return {
            "perf/weight_sync_logprob_abs_diff_mean": found.mean,
            "perf/weight_sync_logprob_abs_diff_max": found.max,
        }

    def call(self, method: str, *arguments: Any) -> Any:
        """Another method of the trainer."""
        return getattr(self._trainer, method)(*arguments)


def visible_place(gpus: Sequence[int | str], environ: Mapping[str, str]) -> int:
    """Where the GPU that Ray gave an actor stands among those that its process sees; 0 without any.

    Ray lets an actor see its own alone, unless it was told to leave CUDA_VISIBLE_DEVICES as it is.
    """
    visible = environ.get("CUDA_VISIBLE_DEVICES")
    if not gpus:
        return 0
    return [one.strip() for one in visible.split(",")].index(str(gpus[0])) if visible else int(gpus[0])


def _figures(report: Any) -> dict[str, float]:
    return {
        "perf/update_weights_implementation_time": report.seconds,
        "perf/update_weights_bytes_per_s": report.nbytes / report.seconds if report.seconds else 0.0,
        "rollout/weight_version": float(report.version),
    }
