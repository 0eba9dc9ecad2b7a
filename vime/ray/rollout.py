"""The rollout manager: the engines, the prompts, and what is generated with them. Its own process, beside the trainer."""

import time
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ray

from vime.config.resolve import Config
from vime.ray.servers import Servers, start_servers
from vime.rollout.base_types import call_rollout_fn
from vime.rollout.hooks import check_hooks
from vime.rollout.train_data import convert_samples_to_train_data
from vime.utils.misc import Box, load_function

__all__ = ["Engines", "Generated", "RolloutManager"]


@dataclass(frozen=True)
class Engines:
    """Where the engines are reached; control calls and weights go to each of `urls`."""

    urls: tuple[str, ...]
    router: str


@dataclass(frozen=True)
class Generated:
    """One rollout, ready for the trainer."""

    data: Box
    """Holds a reference to a RolloutBatch in the object store."""
    metrics: Mapping[str, float]


class RolloutManager:
    """Starts engines, gives out prompts, generates, rewards, and makes training data of it."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._args: Namespace = config.args
        self._servers: Servers | None = None
        self._data_source = load_function(config.args.data_source_path)(config.args)
        self._generate = load_function(config.args.rollout_function_path)
        self._evaluate = load_function(config.args.eval_function_path)

    def start(self) -> Engines:
        """Start the engines, or find those that run already; where they are."""
        self._servers = start_servers(self._config)
        return self._connected()
