"""The trainer as the driver sees it: all of its ranks at once."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ray

from vime.config.resolve import Config
from vime.ray.placement_group import Placement
from vime.ray.train_actor import TrainRayActor
from vime.ray.wait import result, results

_SHARE = 0.4
"""Of a GPU that an actor claims, so that engine and trainer fit on one with --colocate."""


class RayTrainGroup:
    """The ranks of one role. Methods that begin with async return references, the others wait."""

    def __init__(self, config: Config, placement: Placement, role: str = "actor", with_ref: bool | None = None) -> None:
        self._config, self._role, self._with_ref = config, role, with_ref
        self._actors = [
            _remote(config, placement, rank).remote(
                config, len(placement.trainer), rank, config.device.trainer_env() | _own_env(config)
            )
            for rank in range(len(placement.trainer))
        ]

    def async_create(self) -> dict[str, Any]:
        """Begin to build and load the model on each rank."""
        where = result(self._actors[0].get_master_addr_and_port.remote(), self._name(0))
        return self._each(lambda actor: actor.init.remote(where, self._role, self._with_ref))

    def async_train(self, rollout_id: int, rollout_data_ref: Any) -> dict[str, Any]:
        """Begin to train on one rollout's data."""
        return self._each(lambda actor: actor.train.remote(rollout_id, rollout_data_ref))

    def train(self, rollout_id: int, rollout_data_ref: Any) -> Mapping[str, float]:
        """Train on one rollout's data; rank 0's metrics."""
        return results(self.async_train(rollout_id, rollout_data_ref))[0]

    def save_model(self, rollout_id: int) -> None:
        """Write the checkpoint after a rollout, and the weights in Hugging Face's form where --save-hf asks for them."""
        results(self._each(lambda actor: actor.call.remote("save_model", rollout_id)))

    def set_rollout_engines(self, urls: Sequence[str]) -> None:
        """Say which engines get the weights."""
        results(self._each(lambda actor: actor.set_rollout_engines.remote(tuple(urls))))

    def update_weights(self, meanwhile: Callable[[], None], every: float) -> Mapping[str, float]:
        """Bring the weights to every engine under the next version, with a call of `meanwhile` every so many seconds; the metrics."""
        return results(self._each(lambda actor: actor.update_weights.remote()), meanwhile, every)[0]

    def kill(self) -> None:
        """End the ranks."""
        for actor in self._actors:
            ray.kill(actor, no_restart=True)

    def _each(self, call: Callable[[Any], Any]) -> dict[str, Any]:
        return {self._name(rank): call(actor) for rank, actor in enumerate(self._actors)}

    def _name(self, rank: int) -> str:
        return f"rank {rank} of the trainer"


def _remote(config: Config, placement: Placement, rank: int) -> Any:
    strategy = placement.strategy(placement.trainer[rank])
    gpus = 0 if config.device.is_cpu else _SHARE
    return ray.remote(TrainRayActor).options(num_cpus=_SHARE, num_gpus=gpus, scheduling_strategy=strategy)


def _own_env(config: Config) -> dict[str, str]:
    return {name: str(value) for name, value in config.args.train_env_vars.items()}
