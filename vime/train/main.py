"""A run from its configuration to its last step: what is started, in which order, and what is left behind."""

from argparse import Namespace
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any

import ray

from vime.config.resolve import Config
from vime.errors import Interrupted
from vime.observability import logging_utils
from vime.observability.run_log import RunLog, run_folder
from vime.ray.actor_group import RayTrainGroup
from vime.ray.placement_group import Placement, place
from vime.ray.records import Engines
from vime.ray.rollout import RolloutManager
from vime.ray.run_length import with_length
from vime.ray.session import ray_session
from vime.ray.wait import result, results
from vime.train.clock import Clock
from vime.train.loop import Schedule, loop
from vime.train.progress import Progress
from vime.train.rollouts import InTurn, OneAhead
from vime.train.run import RayRun
from vime.train.stop import StopRequest, stop_on_signals

_MANAGER = "the rollout manager"
_THREADS = 8
"""Of the rollout manager: one generates, the others answer."""
_STATUS = 1.0
"""Seconds between two looks at how the start comes along."""


def train(config: Config, progress: Progress) -> int:
    """Run to the end; the exit status: 0, or 128 and the signal's number after a stop. What fails is raised."""
    config = replace(config, args=config.args.replace(run_dir=str(run_folder(config.args.run_dir))))
    log = RunLog(config.args.run_dir)
    log.config(config)
    logging_utils.init_tracking(config.args)
    with stop_on_signals() as stop:
        try:
            with ExitStack() as running:
                around = _Around(log, progress, stop)
                with around.clock.part("ray"):
                    running.enter_context(ray_session(config))
                run, schedule = running.enter_context(_parts(config, around))
                _loop(config, run, schedule, around)
        except Interrupted:
            return _stopped(stop.words, stop, log, progress)
        except KeyboardInterrupt:
            return _stopped(f"{stop.words}, at once", stop, log, progress)
        except Exception as error:
            log.event("failed", why=f"{type(error).__name__}: {error}")
            raise
        finally:
            logging_utils.finish_tracking(config.args)
    return 0


def _stopped(why: str, stop: StopRequest, log: RunLog, progress: Progress) -> int:
    log.event("stop", why=why)
    progress.say(why)
    return stop.exit_code


def _loop(config: Config, run: RayRun, schedule: Schedule, around: "_Around") -> None:
    log, progress = around.log, around.progress
    log.event("start", first=schedule.first, total=schedule.total, seconds=_rounded(around.clock.times()))
    log.resume({"rollout/step": schedule.first, "eval/step": schedule.first + (schedule.first > 0)})
    progress.begin(schedule.first, schedule.total)
    if schedule.first >= schedule.total > 0:
        done = f"{schedule.total} of {schedule.total} rollouts are done already: nothing is left to train"
        progress.say(f"{done}; set --num-rollout higher to go on")
    saves = config.args.save is not None or config.args.save_hf is not None
    rollouts = OneAhead(run, schedule.total) if config.args.train_async else InTurn(run)
    loop(run, rollouts, schedule, saves, _Record(config.args, progress), around.stop)
    log.event("end")


@dataclass(frozen=True)
class _Around:
    """What a run tells, and what it listens to; the clock is that of its start."""

    log: RunLog
    progress: Progress
    stop: StopRequest
    clock: Clock = field(default_factory=Clock)

    def tell(self, event: str, line: str) -> None:
        """Something that a person should know, and the log too."""
        self.log.event(event, what=line)
        self.progress.say(line)


class _Record:
    """Figures go to the log, and to who watches."""

    def __init__(self, args: Namespace, progress: Progress) -> None:
        self._args, self._progress = args, progress

    def log(self, metrics: Mapping[str, float], step_key: str, step: int) -> None:
        logging_utils.log(self._args, {**metrics, step_key: step}, step_key)
        self._progress.step(step_key, step, metrics)


@contextmanager
def _parts(config: Config, around: "_Around") -> Iterator[tuple[RayRun, Schedule]]:
    """Everything that the loop needs, started side by side; the engines are stopped in the end.

    The clock counts what was waited for: engines start while prompts are read and the trainer is built.
    """
    clock, stop = around.clock, around.stop
    stop.check()
    placement = place(config.args, config.device)
    manager = _manager(config, placement)
    try:
        starting = None if config.args.debug_train_only else manager.start.remote()
        start = _Start(manager, starting, stop, around.progress)
        with clock.part("prompts"):
            per_epoch = start.result(manager.read_prompts.remote())
        config = replace(config, args=with_length(config.args, per_epoch))
        with clock.part("trainer"):
            trainer, first = _trainer(config, placement, start)
        start.result(manager.load.remote(first - 1))
        if starting is not None:
            with clock.part("engines"):
                _connect(trainer, start.result(starting))
        stop.check()

        yield RayRun(config, trainer, manager, stop, around.tell, first), _schedule(config, first)
    finally:
        _dispose(manager)


def _trainer(config: Config, placement: Placement, start: "_Start") -> tuple[RayTrainGroup | None, int]:
    """The trainer, if there is to be one, and the rollout to begin with."""
    first = 0
    trainer = None if config.args.debug_rollout_only else RayTrainGroup(config, placement)
    if trainer is not None:
        first = _same(start.results(trainer.async_create()))
    return trainer, first if config.args.start_rollout_id is None else config.args.start_rollout_id


def _manager(config: Config, placement: Placement) -> Any:
    return ray.remote(RolloutManager).options(num_cpus=0.4, max_concurrency=_THREADS).remote(config, placement)


def _connect(trainer: RayTrainGroup | None, engines: Engines) -> None:
    if trainer is not None:
        trainer.set_rollout_engines(engines.urls)


@dataclass(frozen=True)
class _Start:
    """Waits for what starts, with a word every second on how far the engines are, until they fail or a stop is asked for."""

    manager: Any
    engines: Any
    """The reference of their start; None where none are started."""
    stop: StopRequest
    progress: Progress

    def results(self, refs: Mapping[str, Any]) -> list[Any]:
        """What the references come to. Raises what failed, or Interrupted."""
        return results(refs, self._meanwhile, _STATUS)

    def result(self, ref: Any) -> Any:
        """What a call of the manager comes to."""
        return self.results({_MANAGER: ref})[0]

    def _meanwhile(self) -> None:
        self.stop.check()
        if self.engines is not None and ray.wait([self.engines], timeout=0)[0]:
            result(self.engines, _MANAGER)
        self.progress.starting(result(self.manager.status.remote(), _MANAGER))


def _same(firsts: list[int]) -> int:
    """The ranks read the same checkpoint."""
    assert len(set(firsts)) == 1, f"the trainer's ranks begin at different rollouts: {firsts}"
    return firsts[0]


def _schedule(config: Config, first: int) -> Schedule:
    args = config.args
    eval_interval = None if args.debug_train_only else args.eval_interval  # without engines nothing is answered
    return Schedule(
        first=first,
        total=args.num_rollout,
        per_epoch=args.num_rollout_per_epoch,
        eval_interval=eval_interval,
        save_interval=args.save_interval,
        sync_interval=args.update_weights_interval,
        eval_before=eval_interval is not None and first == 0 and not args.skip_eval_before_train,
    )


def _rounded(times: Mapping[str, float]) -> dict[str, float]:
    """Seconds of each part of the start; what is no part of it left out."""
    return {name: round(seconds, 1) for name, seconds in times.items() if not name.startswith("perf/")}


def _dispose(manager: Any) -> None:
    """Stop the engines, however the run ended."""
    with suppress(Exception):  # where the manager is gone, its engines ended with it
        ray.get(manager.dispose.remote(), timeout=60)
