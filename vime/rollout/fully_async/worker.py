"""Generates without end, in the background of one event loop, and gives finished groups away when a rollout is asked for."""

from __future__ import annotations

import asyncio
import logging
from argparse import Namespace
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from vime.rollout import vllm_rollout
from vime.rollout.base_types import RolloutFnTrainOutput
from vime.rollout.collect import NoPrompts
from vime.rollout.fully_async.in_hand import InHand
from vime.rollout.fully_async.staleness import Bound
from vime.rollout.groups import Group
from vime.rollout.keeping import check_size, is_cut_short
from vime.rollout.rewarding import RewardRunner
from vime.rollout.sample_hooks import set_current_rollout_id
from vime.utils.async_utils import run

logger = logging.getLogger(__name__)

T = TypeVar("T")

_BREATH = 0.05
"""Seconds before a group that was cut short is begun again, so that who aborts everything is not answered at once."""


class Cancelled(RuntimeError):
    """Somebody cancelled the generation of one group."""


class AsyncRolloutWorker:
    """One structured task: it takes groups from `data_buffer` and generates up to `concurrency` of them at once.

    What one of them raises ends the worker: the others are cancelled, every group goes back to `data_buffer`, and
    `collect` raises it. It lives in one event loop; upstream's methods may be called from there, or from where there is none.
    """

    def __init__(self, args: Namespace, data_buffer: Any, concurrency: int = 10) -> None:
        self.args, self.data_buffer, self.concurrency = args, data_buffer, concurrency
        self.rollout_id = 0
        self._bound = Bound.of(args)
        self._in_hand = InHand(args, data_buffer, self._bound)
        self._wanted = 0
        self._dry = False
        self._task: asyncio.Task | None = None
        self._room, self._news = asyncio.Event(), asyncio.Event()
        self._failures: Counter[str] = Counter()

    # --- upstream's interface ---

    def start(self) -> None:
        """Begin, in the running event loop or else in the process's background loop."""
        if _in_a_loop():
            self._start()
        else:
            run(_called(self._start))

    def stop(self) -> None:
        """End, with every group back in `data_buffer`. Within the event loop it ends soon: await `close()` there."""
        if not _in_a_loop():
            run(self.close())
        elif self._task is not None:
            self._task.cancel()

    def get_completed_groups(self, limit: int | None = None) -> list[tuple[int, Group]]:
        """Take groups that are ready, `limit` at most, the oldest first, each with its number. They are the caller's."""
        return self._take(limit) if _in_a_loop() else run(_called(lambda: self._take(limit)))

    def queue_size(self) -> int:
        """Groups that are ready."""
        return len(self._in_hand.ready)

    # --- what a rollout asks ---

    @property
    def ended(self) -> bool:
        """Whether it generates no more; every group is back then."""
        return self._task is not None and self._task.done()

    @property
    def failure(self) -> BaseException | None:
        """What it ended with; None while it runs, and where it was cancelled."""
        return self._task.exception() if self.ended and not self._task.cancelled() else None

    async def collect(self, rollout_id: int) -> RolloutFnTrainOutput:
        """`args.rollout_batch_size` groups, in order; the rest stays. Raises what generating raised, and NoPrompts."""
        self.rollout_id, picked = rollout_id, None
        versions = self._in_hand.versions
        await versions.ask(self.args)
        # As every rollout begins; somebody may have aborted the last.
        vllm_rollout.GenerateState(self.args).aborted = False
        self._wanted = self.args.rollout_batch_size
        self._room.set()
        try:
            while picked is None:
                await self._enough()
                await versions.ask(self.args)  # the weights may be newer than any answer says
                picked = self._in_hand.pick(self._wanted)
        finally:
            self._wanted = 0
        output = self._in_hand.hand_over(picked)
        output.metrics |= self._in_hand.aborts.metrics(rollout_id)
        self._room.set()
        return self._with_failures(output)

    async def close(self) -> None:
        """End, and return when every group is back, also where this is cancelled meanwhile."""
        if self._task is None:
            return
        cancelled = None
        self._task.cancel()
        while not self._task.done():
            try:
                await asyncio.wait([self._task])
            except asyncio.CancelledError as error:
                cancelled = error
        if self.failure is not None:
            logger.info("the fully-async worker had ended with %r", self.failure)
        if cancelled is not None:
            raise cancelled

    # --- inside ---

    def _start(self) -> None:
        if self._task is None or self._task.done():
            self._failures = RewardRunner(self.args).failures.copy()
            self._task = asyncio.create_task(self._run(), name="fully-async-rollout")

    def _take(self, limit: int | None) -> list[tuple[int, Group]]:
        ready = len(self._in_hand.ready)
        taken = self._in_hand.take_ready(ready if limit is None else min(limit, ready))
        self._room.set()
        return taken

    async def _run(self) -> None:
        try:
            await self._in_hand.versions.ask(self.args)  # what is begun has an age
            async with asyncio.TaskGroup() as tasks:
                await self._keep_busy(tasks)
        except BaseExceptionGroup as failed:
            # Who was cancelled on account of what failed says so, too.
            raise next(
                (one for one in failed.exceptions if not isinstance(one, Cancelled)), failed.exceptions[0]
            ) from None
        finally:
            self._in_hand.give_back()
            self._news.set()

    async def _keep_busy(self, tasks: asyncio.TaskGroup) -> None:
        while True:
            self._room.clear()
            while self._has_room():
                set_current_rollout_id(self.rollout_id)
                begun = self._in_hand.take()
                self._dry = not begun
                if self._dry:
                    self._news.set()
                    break
                for number, group in begun:
                    tasks.create_task(self._generate(number, group))
                await asyncio.sleep(0)  # many are begun at once, and others run here too
            await self._room.wait()

    def _has_room(self) -> bool:
        """Whether another group is generated: not more at once than `concurrency`, not more ready than that, none that
        would be too old when its turn comes."""
        flying, ready = len(self._in_hand.flying), len(self._in_hand.ready)
        return (
            flying < self.concurrency
            and ready < self.concurrency + self._wanted
            and self._bound.room(flying + ready, self._wanted) > 0
        )

    async def _generate(self, number: int, group: Group) -> None:
        state = vllm_rollout.GenerateState(self.args)
        params = state.sampling_params.copy()
        try:
            group = await vllm_rollout.generate_and_rm_group(self.args, group, sampling_params=params, evaluation=False)
            check_size(self.args, group)
            # Where a rollout is being aborted a group comes back at once, with nothing begun.
            cut_short = is_cut_short(group) or state.aborted
            if cut_short:
                await asyncio.sleep(_BREATH)
        except asyncio.CancelledError:
            if self._task.cancelling():
                raise
            raise Cancelled(f"the generation of group {number} was cancelled, by none of this module") from None
        self._in_hand.finish(number, group, self.rollout_id, cut_short)
        self._room.set()
        self._news.set()

    async def _enough(self) -> None:
        """Wait until there are the groups of a rollout."""
        while True:
            self._news.clear()
            self._raise_if_over()
            if self._in_hand.pick(self._wanted) is not None:
                return
            if self._in_hand.returned:
                self._room.set()
            if self._dry and not (self._in_hand.flying or self._in_hand.returned):
                raise NoPrompts(f"rollout {self.rollout_id}: the data source has no prompts left; check --prompt-data")
            await self._news.wait()

    def _raise_if_over(self) -> None:
        if self._task is None:
            raise RuntimeError("the worker was not started")
        if self._task.done():
            self._task.result()

    def _with_failures(self, output: RolloutFnTrainOutput) -> RolloutFnTrainOutput:
        """The output with what failed in rewards since the last."""
        failures = RewardRunner(self.args).failures
        output.metrics |= {f"rollout/{name}": count for name, count in (failures - self._failures).items()}
        self._failures = failures.copy()
        return output


async def _called(function: Callable[[], T]) -> T:
    return function()


def _in_a_loop() -> bool:
    with suppress(RuntimeError):
        asyncio.get_running_loop()
        return True
    return False
