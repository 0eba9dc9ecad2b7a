"""Ray for as long as a run lasts: a cluster of this machine alone, or the one that runs already."""

import logging
import os
import re
import signal
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import ray

from vime.config.resolve import Config
from vime.errors import RunError, first_line

_SMALL_STORE = 256 * 1024**2
"""Bytes of the object store where only a small model's samples pass through it."""
_ADDRESS = re.compile(r"(?:ray://)?\[?(?P<host>[^/]+?)\]?:(?P<port>\d+)")
_ANSWERS_WITHIN = 10.0
"""Seconds; Ray itself would try for minutes."""


@contextmanager
def ray_session(config: Config) -> Iterator[None]:
    """Connect to Ray, and leave nothing of it behind.

    RAY_ADDRESS names a cluster that runs already. Without it Ray is started here, on loopback where the device is a CPU.
    Raises RunError where it cannot be.
    """
    address = os.environ.get("RAY_ADDRESS", "")
    _check(address)
    try:
        with _own_handlers():
            _connect(_options(config, os.environ), address)
        yield
    finally:
        ray.shutdown()


def _check(address: str) -> None:
    """Whether somebody listens at `address`, where that is a host and a port."""
    if found := _ADDRESS.fullmatch(address):
        try:
            socket.create_connection((found["host"], int(found["port"])), timeout=_ANSWERS_WITHIN).close()
        except (OSError, OverflowError) as error:
            raise _not_there(address, error) from error


def _connect(options: Mapping[str, Any], address: str) -> None:
    try:
        ray.init(**options)
    except (RuntimeError, ValueError, OSError) as error:
        if address:
            raise _not_there(address, error) from error
        raise RunError(
            f"Ray did not start: {first_line(error)}", "its logs are in /tmp/ray/session_latest/logs"
        ) from error


def _not_there(address: str, error: Exception) -> RunError:
    return RunError(
        f"there is no Ray cluster at RAY_ADDRESS={address}: {first_line(error)}", "start it, or unset RAY_ADDRESS"
    )


@contextmanager
def _own_handlers() -> Iterator[None]:
    """Ray takes SIGTERM for itself, and would end the run without a checkpoint: put back what was there."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


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
