"""The synchronous loop: generate, train, save, sync, evaluate, and from the top."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from vime.errors import Interrupted
from vime.ray.records import Generated
from vime.train.stop import StopRequest
from vime.utils.misc import should_run_periodic_action

Metrics = Mapping[str, float]


class Run(Protocol):
    """What is running: the trainer, the engines, the prompts. Each method waits until it is done."""

    def generate(self, rollout_id: int) -> Generated: ...

    def train(self, rollout_id: int, generated: Generated) -> Metrics: ...

    def save(self, rollout_id: int) -> None: ...

    def sync_weights(self) -> Metrics: ...

    def evaluate(self, done: int) -> Metrics: ...


class Record(Protocol):
    """Where a run's figures go. `eval/step` counts the rollouts that were trained on, so that 0 is the start."""

    def log(self, metrics: Metrics, step_key: str, step: int) -> None: ...


@dataclass(frozen=True)
class Schedule:
    """Which rollouts there are, and after which something is due."""

    first: int
    total: int
    per_epoch: int | None
    eval_interval: int | None
    save_interval: int | None
    eval_before: bool
    sync_interval: int = 1

    def evaluate(self, rollout_id: int) -> bool:
        """Whether to evaluate after this rollout; always after the last."""
        return self.eval_interval is not None and self._due(rollout_id, self.eval_interval)

    def save(self, rollout_id: int) -> bool:
        """Whether to write a checkpoint after this rollout; always after the last, also where no interval is set."""
        return rollout_id + 1 == self.total or self._due(rollout_id, self.save_interval)

    def sync(self, rollout_id: int) -> bool:
        """Whether the engines get the weights after this rollout; always before an evaluation and after the last."""
        return (rollout_id + 1) % self.sync_interval == 0 or self.evaluate(rollout_id) or rollout_id + 1 == self.total

    def _due(self, rollout_id: int, interval: int | None) -> bool:
        return should_run_periodic_action(rollout_id, interval, self.per_epoch, self.total)


def loop(run: Run, schedule: Schedule, saves: bool, record: Record, stop: StopRequest) -> None:
    """Every rollout of the schedule. Raises Interrupted after a stop, with a checkpoint if the run `saves`."""
    run.sync_weights()
    if schedule.eval_before:
        record.log(run.evaluate(schedule.first), "eval/step", schedule.first)
    trained = saved = schedule.first - 1
    try:
        for rollout_id in range(schedule.first, schedule.total):
            stop.check()
            clock = Clock()
            metrics = _train(run, rollout_id, clock)
            trained = rollout_id
            if saves and schedule.save(rollout_id):
                with clock.part("perf/save_time"):
                    run.save(rollout_id)
                saved = rollout_id
            _publish(run, rollout_id, metrics, schedule, record, clock)
    except Interrupted:
        if saves and trained > saved:
            run.save(trained)
        raise


def _train(run: Run, rollout_id: int, clock: "Clock") -> Metrics:
    """Generate a rollout and train on it; the figures of both."""
    with clock.part("perf/rollout_time"):
        generated = run.generate(rollout_id)
    with clock.part("perf/train_time"):
        trained = run.train(rollout_id, generated)
    return {**generated.metrics, **trained}


def _publish(run: Run, rollout_id: int, metrics: Metrics, schedule: Schedule, record: Record, clock: "Clock") -> None:
    """Bring the new weights to the engines, log the step, and evaluate, as far as they are due."""
    synced: Metrics = {}
    if schedule.sync(rollout_id):
        with clock.part("perf/update_weights_time"):
            synced = run.sync_weights()
    record.log({**metrics, **synced, **clock.times()}, "rollout/step", rollout_id)
    if schedule.evaluate(rollout_id):
        record.log(run.evaluate(rollout_id + 1), "eval/step", rollout_id + 1)


class Clock:
    """Seconds of the parts of a step, and of the whole."""

    def __init__(self, now: Callable[[], float] = time.perf_counter) -> None:
        self._now, self._began = now, now()
        self._parts: dict[str, float] = {}

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Count the block under `name`."""
        began = self._now()
        try:
            yield
        finally:
            self._parts[name] = self._parts.get(name, 0.0) + self._now() - began

    def times(self) -> dict[str, float]:
        """Each part, and perf/step_time."""
        return {**self._parts, "perf/step_time": self._now() - self._began}
