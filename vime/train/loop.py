"""The loop: generate, train, save, sync, evaluate, and from the top. Rollouts are made in turn, or one ahead of the trainer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from vime.errors import Interrupted
from vime.train.clock import Clock
from vime.train.rollouts import Rollouts, Run
from vime.train.stop import StopRequest
from vime.utils.misc import should_run_periodic_action

Metrics = Mapping[str, float]


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


def loop(run: Run, rollouts: Rollouts, schedule: Schedule, saves: bool, record: Record, stop: StopRequest) -> None:
    """Every rollout of the schedule. Raises Interrupted after a stop, with a checkpoint if the run `saves`.

    No rollout is under way while a checkpoint is written, weights are brought to the engines, or an evaluation runs.
    """
    run.sync_weights()
    if schedule.eval_before:
        record.log(run.evaluate(schedule.first), "eval/step", schedule.first)
    trained = saved = schedule.first - 1
    try:
        for rollout_id in range(schedule.first, schedule.total):
            stop.check()
            clock = Clock()
            metrics = _train(run, rollouts, rollout_id, clock)
            trained = rollout_id
            saving = saves and schedule.save(rollout_id)
            if saving or schedule.sync(rollout_id):
                rollouts.settle(clock)
            if saving:
                with clock.part("perf/save_time"):
                    run.save(rollout_id)
                saved = rollout_id
            _publish(run, rollout_id, metrics, schedule, record, clock)
    except Interrupted:
        rollouts.settle(Clock())
        if saves and trained > saved:
            run.save(trained)
        raise


def _train(run: Run, rollouts: Rollouts, rollout_id: int, clock: Clock) -> Metrics:
    """Train on a rollout, when it is there; the figures of both."""
    generated = rollouts.take(rollout_id, clock)
    with clock.part("perf/train_time"):
        trained = run.train(rollout_id, generated)
    return {**generated.metrics, **trained}


def _publish(run: Run, rollout_id: int, metrics: Metrics, schedule: Schedule, record: Record, clock: Clock) -> None:
    """Bring the new weights to the engines, log the step, and evaluate, as far as they are due."""
    synced: Metrics = {}
    if schedule.sync(rollout_id):
        with clock.part("perf/update_weights_time"):
            synced = run.sync_weights()
    record.log({**metrics, **synced, **clock.times()}, "rollout/step", rollout_id)
    if schedule.evaluate(rollout_id):
        record.log(run.evaluate(rollout_id + 1), "eval/step", rollout_id + 1)
