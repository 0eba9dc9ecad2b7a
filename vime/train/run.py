"""One run: the trainer, the engines, and what the loop does with them."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import ray

from vime.config.resolve import Config
from vime.errors import RunError
from vime.ray.actor_group import RayTrainGroup
from vime.ray.rollout import EnginesChanged, Generated
from vime.ray.wait import result, results
from vime.train.checkpoints import Checkpoint, Progress, writing
from vime.train.stop import StopRequest

T = TypeVar("T")
_MANAGER = "the rollout manager"
_RECOVERIES = 3
"""Times in one step that engines are started again before the run gives up."""


class Run:
    """What is running. Every method waits until it is done."""

    def __init__(self, config: Config, trainer: RayTrainGroup | None, manager: Any, stop: StopRequest) -> None:
        self.config, self.args = config, config.args
        self._trainer, self._manager, self._stop = trainer, manager, stop
        self.weight_version = 0

    def generate(self, rollout_id: int) -> Generated:
        """Generate and reward one rollout; engines that die are started again and get the weights first."""
        return self._with_recovery(lambda: self._generate(rollout_id))

    def _generate(self, rollout_id: int) -> Generated:
        with self._stop.waiting(self._interrupt):
            return result(self._manager.generate.remote(rollout_id), _MANAGER)

    def _interrupt(self) -> None:
        self._manager.interrupt.remote()

    def evaluate(self, rollout_id: int) -> Mapping[str, float]:
        """Evaluate on every set; its metrics."""
        return self._with_recovery(lambda: result(self._manager.eval.remote(rollout_id), _MANAGER))

    def train(self, rollout_id: int, generated: Generated) -> Mapping[str, float]:
        """Train on a rollout; its metrics."""
        if self._trainer is None:
            return {}
        return self._trainer.train(rollout_id, generated.data)

    def sync_weights(self) -> Mapping[str, float]:
        """Bring the trainer's weights to every engine."""
        if self._trainer is None or self.args.debug_train_only:
            return {}
        self.weight_version += 1
        return self._with_recovery(lambda: self._trainer.update_weights(self.weight_version), resync=False)

    def save(self, folder: Path, rollout_id: int) -> Checkpoint:
        """Write a checkpoint of everything that going on needs."""
        with writing(folder, Progress(rollout_id, self.weight_version)) as checkpoint:
            if self._trainer is not None:
                checkpoint.trainer.mkdir()
                self._trainer.save_model(str(checkpoint.trainer), rollout_id)
            result(self._manager.save.remote(str(checkpoint.rollout)), _MANAGER)
        return checkpoint
