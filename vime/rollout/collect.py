"""One rollout: ask for prompts, keep the groups that pass the filter, stop the rest, account for all."""

from __future__ import annotations

import asyncio
import logging
from argparse import Namespace
from collections.abc import Awaitable, Callable
from typing import Any

from vime.rollout.aborts import Aborts
from vime.rollout.accounting import Ledger
from vime.rollout.base_types import RolloutFnTrainOutput
from vime.rollout.groups import Group, in_order, leaves, name_leaves, snapshot, to_go_on
from vime.rollout.keeping import Keeping, Prompts, check_size, is_cut_short, number_of
from vime.rollout.rewarding import RewardRunner
from vime.rollout.sample_hooks import set_current_rollout_id
from vime.rollout.together import cancel

logger = logging.getLogger(__name__)


class NoPrompts(RuntimeError):
    """The data source gave nothing although the rollout needs more."""


async def collect(
    args: Namespace,
    state: Any,
    rollout_id: int,
    take: Callable[[int], list[Group]],
    stop: Callable[[], Awaitable[list[asyncio.Task]]],
) -> tuple[RolloutFnTrainOutput, list[Group]]:
    """The rollout, and the groups that go back to the data source.

    `state` starts tasks and has them in `pendings`; `stop` aborts what runs and gives the tasks when they are back. What
    fails is raised when everything else was cancelled and is back in the data source.
    """
    set_current_rollout_id(rollout_id)
    rollout = _Rollout(args, state, rollout_id, take)
    before = RewardRunner(args).failures.copy()
    try:
        while len(rollout.kept) < args.rollout_batch_size:
            await rollout.step()
        # Where nothing runs the engines are idle.
        rollout.put_back(await stop() if state.pendings else [])
        rollout.finish()
    except BaseException:
        try:
            await cancel(rollout.working)
        finally:
            rollout.give_up()
        raise
    finally:
        state.reset()
    failures = {f"rollout/{name}": count for name, count in (RewardRunner(args).failures - before).items()}
    metrics = (
        rollout.keeping.gatherer.collect() | rollout.ledger.metrics() | failures | rollout.aborts.metrics(rollout_id)
    )
    return RolloutFnTrainOutput(samples=in_order(rollout.kept), metrics=metrics), rollout.left_over


class _Rollout:
    """The groups of one rollout, by where they are."""

    def __init__(self, args: Namespace, state: Any, rollout_id: int, take: Callable[[int], list[Group]]) -> None:
        self.args, self.state, self.rollout_id, self.take = args, state, rollout_id, take
        # `take` is a method of the data source as a rule.
        self.prompts = Prompts(getattr(take, "__self__", take))
        self.keeping = Keeping(args)
        self.ledger = Ledger()
        self.aborts = Aborts(args)
        self.kept: list[tuple[int, Group]] = []
        self.seen: list[tuple[int, Group]] = []
        self.left_over: list[Group] = []
        self.working: dict[asyncio.Task, int] = {}
        self._issued: dict[int, list[Any]] = {}

    async def step(self) -> None:
        """Ask for prompts where there are too few, and settle what is done."""
        while self.state.remaining_batch_size < self.args.rollout_batch_size:
            self._ask()
        done, self.state.pendings = await asyncio.wait(self.state.pendings, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            self._settle(task)

    def _ask(self) -> None:
        count = self.args.over_sampling_batch_size or self.args.rollout_batch_size
        groups = self.prompts.take(self.take, count)
        if not groups:
            raise NoPrompts(f"rollout {self.rollout_id}: the data source has no prompts left; check --prompt-data")
        for group in groups:
            number = number_of(group, len(self._issued))
            self.ledger.issue(number)
            self._issued[number] = snapshot(group)
        numbers = list(self._issued)[-len(groups) :]
        self._start(numbers, groups)

    def _start(self, numbers: list[int], groups: list[Group]) -> None:
        for number, task in zip(numbers, self.state.submit_generate_tasks(groups), strict=True):
            self.working[task] = number

    def _settle(self, task: asyncio.Task) -> None:
        number, group = self.working[task], self._result(task)
        del self.working[task]
        self.aborts.came(number, group)
        if is_cut_short(group):
            # Somebody else stopped the engines, or the answer was of no use: it goes on, or begins anew.
            self.state.remaining_batch_size -= 1
            again = to_go_on(group, self._issued[number], self.rollout_id, self.args.partial_rollout)
            self._start([number], [again])
            return
        name_leaves(group, self._issued[number])
        self._say_first(group)
        self.seen.append((number, group))
        reason = self.keeping.reason_to_drop(group, self.state.remaining_batch_size)
        if reason is not None:
            self.ledger.drop(number, reason)
            self.state.remaining_batch_size -= 1
        elif len(self.kept) < self.args.rollout_batch_size:
            self.ledger.train(number)
            self.kept.append((number, group))
        else:
            self._return(number, group)

    def put_back(self, tasks: list[asyncio.Task]) -> None:
        """Groups that were stopped, or came too late."""
        for task in tasks:
            self._return(self.working[task], self._result(task))

    def _return(self, number: int, group: Group) -> None:
        if not self.prompts.takes_back:
            self.ledger.drop(number, "not_taken_back")
            return
        self.ledger.buffer(number)
        self.left_over.append(to_go_on(group, self._issued[number], self.rollout_id, self.args.partial_rollout))

    def give_up(self) -> None:
        """Give every prompt back as it came, but for those that were dropped."""
        ledger = self.ledger
        ledger.in_flight |= ledger.trained | ledger.buffered
        ledger.trained, ledger.buffered = set(), set()
        prompts = []
        for number in sorted(ledger.in_flight):
            if self.prompts.takes_back:
                ledger.buffer(number)
                prompts.append(list(self._issued[number]))
            else:
                ledger.drop(number, "not_taken_back")
        if prompts:
            self.prompts.source.add_samples(prompts)
        self.prompts.settle(ledger)

    def finish(self) -> None:
        """The hooks that see the whole rollout, and the balance."""
        self.ledger.check()
        self.keeping.show(self.kept, self.seen, self.prompts.source)
        self.prompts.settle(self.ledger)

    def _result(self, task: asyncio.Task) -> Group:
        if task.cancelled():
            raise RuntimeError(f"the generation of group {self.working[task]} was cancelled, by none of this module")
        group = task.result()
        check_size(self.args, group)
        return group

    def _say_first(self, group: Group) -> None:
        if not self.seen:
            first = leaves(group)[0]
            logger.info("rollout %d, first sample: %r, label %.100r, reward %s", self.rollout_id,
                        f"{first.prompt}{first.response}", first.label, first.reward)  # fmt: skip
