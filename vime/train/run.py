"""A run's parts as the loop sees them: the trainer's ranks and the rollout manager, and what happens when an engine dies."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from vime.config.resolve import Config
from vime.errors import Interrupted, RankDied
from vime.ray.actor_group import RayTrainGroup
from vime.ray.records import Engines, Generated
from vime.ray.wait import result
from vime.train.folders import go_back_to
from vime.train.stop import StopRequest

T = TypeVar("T")
Tell = Callable[[str, str], None]
"""Called with the name of an event, and a line about it for a person."""
_MANAGER = "the rollout manager"
_RECOVERIES = 3
"""Times in one step that engines are started again before the run gives up."""


class RayRun:
    """The parts that run. Each method waits until it is done; what fails there is raised here."""

    def __init__(
        self, config: Config, trainer: RayTrainGroup | None, manager: Any, stop: StopRequest, tell: Tell, first: int = 0
    ) -> None:
        self._args, self._trainer, self._manager = config.args, trainer, manager
        self._stop, self._tell, self._first = stop, tell, first
        self._moved: Engines | None = None
        """Where the engines are since some were started again, until the trainer was told."""

    def generate(self, rollout_id: int) -> Generated:
        """One rollout. An engine that dies under it is started again, brought to the weights, and asked again."""
        return self._recovering(lambda: self._waking("generate", rollout_id), resync=True)

    def begin(self, rollout_id: int) -> Callable[[], Generated]:
        """Begin one rollout; what waits for it, with the same remedy for engines that died."""
        begun = [self._manager.generate.remote(rollout_id)]

        def wait() -> Generated:
            if not begun:
                return self._waking("generate", rollout_id)
            with self._stop.waiting(self._interrupt):
                return result(begun.pop(), _MANAGER)

        return lambda: self._recovering(wait, resync=True)

    def evaluate(self, done: int) -> Mapping[str, float]:
        """Evaluate on every set; its metrics."""
        return self._recovering(lambda: self._waking("eval", done), resync=True)

    def _waking(self, method: str, number: int) -> Any:
        with self._stop.waiting(self._interrupt):
            return result(getattr(self._manager, method).remote(number), _MANAGER)

    def _interrupt(self) -> None:
        self._manager.interrupt.remote()

    def train(self, rollout_id: int, generated: Generated) -> Mapping[str, float]:
        """Train on a rollout; the metrics."""
        return self._trainer.train(rollout_id, generated.data) if self._trainer else {}

    def sync_weights(self) -> Mapping[str, float]:
        """Bring the trainer's weights to every engine, under the next version."""
        if self._trainer is None or self._args.debug_train_only:
            return {}
        synced = self._recovering(self._update_weights, resync=False)
        result(self._manager.synced.remote(), _MANAGER)
        return synced

    def _update_weights(self) -> Mapping[str, float]:
        if self._moved is not None:
            self._trainer.set_rollout_engines(self._moved.urls)
            self._moved = None
        return self._trainer.update_weights(self._end_hung, self._args.rollout_health_check_interval)

    def _end_hung(self) -> None:
        """An engine that hangs is ended, so that the trainer is told, and does not wait for it as well."""
        for what in result(self._manager.end_hung.remote(), _MANAGER):
            self._tell("engine_killed", f"{what}; killed")

    def save(self, rollout_id: int) -> None:
        """A checkpoint of all that going on needs, where --save asks for it, and the weights where --save-hf does.

        The prompts' part comes first: the trainer's marker makes both count.
        """
        if self._args.save is not None:
            go_back_to(self._args.save, self._first - 1, saving=rollout_id)
            result(self._manager.save.remote(rollout_id), _MANAGER)
        if self._trainer is not None:
            self._trainer.save_model(rollout_id)

    def _recovering(self, call: Callable[[], T], resync: bool) -> T:
        """`call`, again after engines that died were replaced. What fails with every engine alive is raised."""
        for _ in range(_RECOVERIES):
            try:
                return call()
            except (Interrupted, RankDied):
                raise
            except Exception:
                if self._args.debug_train_only or not self._replaced():
                    raise
                if resync:
                    self.sync_weights()
        return call()

    def _replaced(self) -> bool:
        """Start dead engines again; whether there were any. The sync that follows connects to them, and may find others
        dead."""
        found: tuple[Sequence[str], Engines] = result(self._manager.recover_updatable_engines.remote(), _MANAGER)
        dead, engines = found
        if not dead:
            return False
        for what in dead:
            self._tell("engine_restarted", f"{what}; started again")
        self._moved = engines
        return True
