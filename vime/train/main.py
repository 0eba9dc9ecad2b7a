"""A run from its configuration to its last step: what is started, in which order, and what is left behind."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import ray

from vime.config.resolve import Config
from vime.errors import Interrupted
from vime.observability.run_log import RunLog, run_folder
from vime.ray.actor_group import RayTrainGroup
from vime.ray.placement_group import Placement, place
from vime.ray.records import Engines
from vime.ray.rollout import RolloutManager
from vime.ray.session import ray_session
from vime.ray.wait import result, results
from vime.rollout.hooks import check_hooks
from vime.train.folders import refuse_to_overwrite
from vime.train.loop import Schedule, loop
from vime.train.progress import Progress
from vime.train.run import RayRun
from vime.train.stop import StopRequest, stop_on_signals

_THREADS = 8
"""Of the rollout manager: one generates, the others answer."""
_STATUS = 1.0
"""Seconds between two looks at how the start comes along."""


def train(config: Config, progress: Progress) -> int:
    """Run to the end; the exit status: 0, or 128 and the signal's number after a stop. What fails is raised."""
    config = replace(config, args=config.args.replace(run_dir=str(run_folder(config.args.run_dir))))
    refuse_to_overwrite(config.args)
    check_hooks(config.args)
    log = RunLog(config.args.run_dir)
    log.config(config)
    with stop_on_signals() as stop:
        try:
            with ray_session(config), _parts(config, stop, progress) as (run, schedule):
                log.event("start", first=schedule.first, total=schedule.total)
                log.resume({"rollout/step": schedule.first, "eval/step": schedule.first + (schedule.first > 0)})
                progress.begin(schedule.first, schedule.total)
                loop(run, schedule, config.args.save is not None, _Record(log, progress), stop)
                log.event("end")
        except Interrupted as stopped:
            log.event("stop", why=str(stopped))
            progress.say(str(stopped))
            return stop.exit_code
    return 0
