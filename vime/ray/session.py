"""Ray for as long as a run lasts: a cluster of this machine alone, or the one that runs already."""

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import ray

from vime.config.resolve import Config

_SMALL_STORE = 256 * 1024**2
"""Bytes of the object store where only a small model's samples pass through it."""


@contextmanager
def ray_session(config: Config) -> Iterator[None]:
    """Connect to Ray, and leave nothing of it behind.

    RAY_ADDRESS names a cluster that runs already. Without it Ray is started here, on loopback where the device is a CPU.
    """
    ray.init(**_options(config, os.environ))
    try:
        yield
    finally:
        ray.shutdown()


def _options(config: Config, environ: Mapping[str, str]) -> dict[str, Any]:
    quiet = {"logging_level": logging.WARNING, "log_to_driver": True, "configure_logging": False}
    if environ.get("RAY_ADDRESS"):
        return quiet
    local: dict[str, Any] = {"address": "local", "include_dashboard": False, "num_cpus": max(8, processes(config) + 2)}
    if config.device.is_cpu:
        local |= {"_node_ip_address": "127.0.0.1", "object_store_memory": _SMALL_STORE}
    return quiet | local


def processes(config: Config) -> int:
    """Actors that the run starts: trainer ranks, engines, and the rollout manager."""
    args = config.args
    trainers = args.actor_num_nodes * args.actor_num_gpus_per_node
    return trainers + (args.rollout_num_gpus or 0) // args.rollout_num_gpus_per_engine + 1
