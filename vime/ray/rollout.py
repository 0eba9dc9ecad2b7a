"""The rollout manager: the engines, the prompts, and what is generated with them. A process of its own beside the trainer.

It runs as a Ray actor with several threads, so that it can be interrupted while it generates.
"""

import asyncio
import threading
import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from functools import cached_property
from typing import Any, TypeVar

import ray

from vime.backends.vllm_utils.engine_errors import EngineDied, EngineError
from vime.config.resolve import Config
from vime.errors import Interrupted, first_line
from vime.observability.rollout_data_utils import load_debug_rollout_data, save_debug_rollout_data
from vime.observability.rollout_metrics import eval_figures, rollout_figures
from vime.observability.run_log import RunLog
from vime.observability.token_pieces import token_pieces
from vime.ray.placement_group import Placement
from vime.ray.records import Engines, Generated
from vime.ray.run_length import with_length
from vime.ray.servers import Servers, start_servers
from vime.rollout.ahead import Ahead, load_ahead, save_ahead
from vime.rollout.base_types import call_rollout_fn
from vime.rollout.evaluate import check_sets
from vime.rollout.groups import leaves
from vime.rollout.train_data import convert_samples_to_train_data
from vime.utils.async_utils import get_async_loop
from vime.utils.eval_config import eval_datasets
from vime.utils.misc import Box, load_function
from vime.utils.processing_utils import load_tokenizer
from vime.utils.types import Sample

__all__ = ["RolloutManager"]

T = TypeVar("T")
_LOOK = 1.0
"""Seconds between two looks at the engines while they generate."""


class EngineLost(EngineError):
    """Engines, or their router, died while they were needed; the prompts are back in the data source."""

    def __init__(self, failures: Mapping[str, Exception]) -> None:
        fixes = [error.fix for error in failures.values() if isinstance(error, EngineError) and error.fix]
        super().__init__("; ".join(_words(failures)), "; ".join(fixes))


class RolloutManager:
    """Starts engines, gives out prompts, generates, rewards, and makes training data of it."""

    def __init__(self, config: Config, placement: Placement | None) -> None:
        self._config, self._placement = config, placement
        # The driver logs; a function of the user's that logs from here reaches what several processes may write to.
        quiet = config.args.replace(use_wandb=False)
        self._args: Namespace = quiet.replace(eval_datasets=eval_datasets(config.args))
        self._changing = threading.Lock()
        self._log = RunLog(config.args.run_dir)
        self._servers: Servers | None = None
        self._ahead: Ahead | None = None
        self._stopped = threading.Event()
        self._status = ""

    def start(self) -> Engines:
        """Start the engines, or find those that run already; where they are."""
        logs = str(self._log.folder / "logs")
        self._servers = start_servers(self._config, self._placement, self._progress, logs)
        self._change_args(self._servers.args)
        return self._engines()

    def status(self) -> str:
        """What the engines' start has come to, in a line."""
        return self._status

    def read_prompts(self) -> int | None:
        """Read the prompts, and look at the evaluation sets; rollouts of an epoch."""
        check_sets(self._args, self._args.eval_datasets)
        self._data_source = load_function(self._args.data_source_path)(self._args)
        per_epoch = self.get_num_rollout_per_epoch()
        self._change_args(lambda args: with_length(args, per_epoch))
        return per_epoch

    def load(self, rollout_id: int) -> None:
        """Stand where the checkpoint after `rollout_id` stood (-1: none)."""
        self._data_source.load(rollout_id)
        self._ahead = load_ahead(self._args, rollout_id)

    def get_num_rollout_per_epoch(self) -> int | None:
        """Rollouts that go once over the prompts; None without a common set of them."""
        if not self._args.rollout_global_dataset:
            return None
        return len(self._data_source) // self._args.rollout_batch_size

    def generate(self, rollout_id: int) -> Generated:
        """One rollout: its samples logged, dumped, and handed over as columns.

        Raises EngineLost when an engine died, Interrupted after `interrupt()`; the prompts are back in the data source.
        """
        began = time.monotonic()
        groups, extra = self._groups(rollout_id)
        samples = leaves(groups)
        batch = convert_samples_to_train_data(self._args, groups)
        save_debug_rollout_data(self._args.save_debug_rollout_data, groups, rollout_id=rollout_id, evaluation=False)
        metrics = rollout_figures(rollout_id, self._args, samples, extra, time.monotonic() - began) or {}
        self._log.samples(rollout_id, samples, self._pieces)
        if self._args.train_async:
            self._ahead = Ahead(rollout_id, groups, extra)
        return Generated(Box(ray.put(batch)), metrics, time.monotonic() - began)

    def eval(self, done: int) -> Mapping[str, float]:
        """Evaluate on every set after `done` rollouts; the metrics."""
        function = load_function(self._args.eval_function_path)
        output = self._watched(lambda: call_rollout_fn(function, self._args, done, self._data_source, evaluation=True))
        sets = {name: one.get("samples", ()) for name, one in output.data.items()}
        self._log.evaluation(done, sets, self._pieces)
        return eval_figures(done, self._args, output.data, output.metrics) or {}

    def interrupt(self) -> None:
        """End what is being generated; its prompts go back."""
        self._stopped.set()
        _cancel_all()

    def save(self, rollout_id: int) -> None:
        """Write down which prompts were used, and what was made of those that no rollout was trained on, after this one."""
        save_ahead(self._args, rollout_id, self._ahead)
        self._data_source.save(rollout_id)

    def recover_updatable_engines(self) -> tuple[Sequence[str], Engines]:
        """Start what died again; what died of what, and where the engines are. They wait for the next sync before they serve."""
        failures = self._failures()
        if failures:
            self._servers = self._running().restart_dead(failures, progress=self._progress)
            self._change_args(self._servers.args)
        return _words(failures), self._engines()

    def end_hung(self) -> Sequence[str]:
        """Kill engines whose servers run and do not answer, so that who waits for them is told; what was wrong with which."""
        failures = self._running().failures(self._args.rollout_health_check_timeout, core=False)
        hung = {name: error for name, error in failures.items() if not isinstance(error, EngineDied)}
        self._running().kill(hung)
        return _words(hung)

    def synced(self) -> None:
        """Every engine has the trainer's weights."""
        if self._servers is not None:
            self._servers = self._servers.synced()

    def dispose(self) -> None:
        """Stop the engines, after what is generated in the background."""
        self.interrupt()
        if self._servers is not None:
            self._servers.stop()

    def _groups(self, rollout_id: int) -> tuple[list[list[Sample]], Mapping[str, Any] | None]:
        if self._args.load_debug_rollout_data:
            samples = load_debug_rollout_data(
                self._args.load_debug_rollout_data,
                rollout_id=rollout_id,
                subsample_ratio=self._args.load_debug_rollout_data_subsample,
            )
            return [samples], None
        if self._ahead is not None and self._ahead.rollout_id == rollout_id:  # made before the run was resumed
            return self._ahead.groups, self._ahead.metrics
        function = load_function(self._args.rollout_function_path)
        output = self._watched(
            lambda: call_rollout_fn(function, self._args, rollout_id, self._data_source, evaluation=False)
        )
        return output.samples, output.metrics

    def _watched(self, call: Callable[[], T]) -> T:
        """`call`, ended when an engine dies or a stop is asked for."""
        if self._stopped.is_set():
            raise Interrupted("stopped before it generated")
        with self._watching() as lost:
            try:
                return call()
            except (CancelledError, asyncio.CancelledError):
                if self._stopped.is_set():
                    raise Interrupted("stopped while generating") from None
                if lost:
                    raise EngineLost(lost) from None
                raise

    def _change_args(self, changed: Callable[[Any], Any]) -> None:
        """The engines' start, and reading the prompts, each bring something to the arguments, at the same time."""
        with self._changing:
            self._args = changed(self._args)

    def _failures(self) -> dict[str, Exception]:
        """What of the engines does not work; without engines nothing."""
        return {} if self._servers is None else self._servers.failures(self._args.rollout_health_check_timeout)

    @contextmanager
    def _watching(self) -> Iterator[dict[str, Exception]]:
        """What died inside the block, and how; what is generated is cancelled at the first."""
        lost: dict[str, Exception] = {}
        over = threading.Event()

        def look() -> None:
            while not over.wait(_LOOK):
                lost.update(self._failures())
                if lost or self._stopped.is_set():  # a stop may have come before there was anything to cancel
                    _cancel_all()
                    return

        watcher = threading.Thread(target=look, name="engine-watch", daemon=True)
        watcher.start()
        try:
            yield lost
        finally:
            over.set()
            watcher.join()

    def _progress(self, line: str) -> None:
        self._status = line

    def _engines(self) -> Engines:
        servers = self._running()
        return Engines(servers.urls, servers.router_url)

    def _running(self) -> Servers:
        assert self._servers is not None, "start() comes first"
        return self._servers

    @cached_property
    def _pieces(self) -> Callable[[Sequence[int]], list[str]]:
        """The text of each token by itself."""
        return token_pieces(load_tokenizer(self._args.hf_checkpoint, trust_remote_code=True))


def _words(failures: Mapping[str, Exception]) -> tuple[str, ...]:
    """What failed and how, a line each."""
    return tuple(f"{what}: {first_line(error)}" for what, error in failures.items())


def _cancel_all() -> None:
    """Cancel every task of the background event loop, on which rollout functions generate."""
    loop = get_async_loop().loop

    def cancel() -> None:
        for task in asyncio.all_tasks(loop):
            task.cancel()

    loop.call_soon_threadsafe(cancel)
