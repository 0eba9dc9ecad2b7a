"""One rollout: ask for prompts, keep the groups that pass the filter, stop the rest, account for all."""

from __future__ import annotations

import asyncio
import logging
from argparse import Namespace
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

from vime.errors import travels
from vime.observability.abort_metrics import AbortCount
from vime.observability.metric_utils import dict_add_prefix
from vime.rollout.accounting import Ledger
from vime.rollout.base_types import RolloutFnTrainOutput
from vime.rollout.engine_call import Patience
from vime.rollout.filter_hub.base_types import MetricGatherer, call_dynamic_filter, should_drop_dynamic_filter_output
from vime.rollout.groups import Group, in_order, leaves, name_leaves, snapshot, to_go_on
from vime.rollout.hooks import load_hook
from vime.rollout.rewarding import GENERATION_FAILED, RewardRunner, generation_failed, reward_failed
from vime.rollout.sample_hooks import set_current_rollout_id
from vime.rollout.together import cancel
from vime.utils.aborted import LIKELY_CAUSES, OF_ITSELF, abort_reason
from vime.utils.types import Sample

logger = logging.getLogger(__name__)


@travels
class AbortedInVain(RuntimeError):
    """The answers to a prompt could not be used, however often it was generated; names the likely cause."""

    def __init__(self, group: int, reason: str, times: int) -> None:
        super().__init__(f"group {group} was aborted {times} times ({reason}): {LIKELY_CAUSES[reason]}")
        self.group, self.reason = group, reason


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
        await cancel(rollout.working)
        rollout.give_up()
        raise
    finally:
        state.reset()
    failures = {f"rollout/{name}": count for name, count in (RewardRunner(args).failures - before).items()}
    rollout.aborts.warn(rollout_id)
    aborted = dict_add_prefix(rollout.aborts.ratios(), "rollout/")
    metrics = rollout.gatherer.collect() | rollout.ledger.metrics() | failures | aborted
    return RolloutFnTrainOutput(samples=in_order(rollout.kept), metrics=metrics), rollout.left_over


class _Rollout:
    """The groups of one rollout, by where they are."""

    def __init__(self, args: Namespace, state: Any, rollout_id: int, take: Callable[[int], list[Group]]) -> None:
        self.args, self.state, self.rollout_id, self.take = args, state, rollout_id, take
        # `take` is a method of the data source as a rule.
        self.source = getattr(take, "__self__", take)
        self.filter = _hook(args, "dynamic_sampling_filter_path")
        self.ledger = Ledger()
        self.gatherer = MetricGatherer()
        self.aborts = AbortCount()
        self._in_vain: Counter[int] = Counter()
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
        groups = self.take(self.args.over_sampling_batch_size or self.args.rollout_batch_size)
        if not groups:
            raise NoPrompts(f"rollout {self.rollout_id}: the data source has no prompts left; check --prompt-data")
        for group in groups:
            number = _number(group, len(self._issued))
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
        self.aborts.add(leaves(group))
        if any(leaf.status is Sample.Status.ABORTED for leaf in leaves(group)):
            # Somebody else stopped the engines, or the answer was of no use: it goes on, or begins anew.
            self._check_hope(number, group)
            self.state.remaining_batch_size -= 1
            again = to_go_on(group, self._issued[number], self.rollout_id, self.args.partial_rollout)
            self._start([number], [again])
            return
        name_leaves(group, self._issued[number])
        self._say_first(group)
        self.seen.append((number, group))
        reason = self._reason_to_drop(group)
        if reason is not None:
            self.ledger.drop(number, reason)
            self.state.remaining_batch_size -= 1
        elif len(self.kept) < self.args.rollout_batch_size:
            self.ledger.train(number)
            self.kept.append((number, group))
        else:
            self._return(number, group)

    def _check_hope(self, number: int, group: Group) -> None:
        """Raises AbortedInVain for a group whose answers are of no use however often it is generated."""
        reason = next((why for leaf in leaves(group) if (why := abort_reason(leaf)) in OF_ITSELF), None)
        if reason is None:
            return
        self._in_vain[number] += 1
        if self._in_vain[number] >= Patience.of(self.args).attempts:
            raise AbortedInVain(number, reason, self._in_vain[number])

    def _reason_to_drop(self, group: Group) -> str | None:
        if any(map(generation_failed, leaves(group))):
            return GENERATION_FAILED
        if all(map(reward_failed, leaves(group))):
            return "reward_failed"
        output = call_dynamic_filter(self.filter, self.args, [s for s in group if not reward_failed(s)])
        remaining, target = self.state.remaining_batch_size, self.args.rollout_batch_size
        if should_drop_dynamic_filter_output(output, remaining_batch_size=remaining, target_data_size=target):
            self.gatherer.on_dynamic_filter_drop(output.reason)
            return output.reason or "dynamic_filter"
        return None

    def put_back(self, tasks: list[asyncio.Task]) -> None:
        """Groups that were stopped, or came too late."""
        for task in tasks:
            self._return(self.working[task], self._result(task))

    def _return(self, number: int, group: Group) -> None:
        if not self._takes_back():
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
            if self._takes_back():
                ledger.buffer(number)
                prompts.append(list(self._issued[number]))
            else:
                ledger.drop(number, "not_taken_back")
        if prompts:
            self.source.add_samples(prompts)
        self._settle_source()

    def _takes_back(self) -> bool:
        return getattr(self.source, "takes_groups_back", hasattr(self.source, "add_samples"))

    def _settle_source(self) -> None:
        settle = getattr(self.source, "settle", None)
        if settle is not None:
            settle(len(self.ledger.trained), self.ledger.reasons())

    def finish(self) -> None:
        """The hooks that see the whole rollout, and the balance."""
        self.ledger.check()
        groups = in_order(self.kept)
        if (mark := _hook(self.args, "rollout_sample_filter_path")) is not None:
            mark(self.args, groups)
        if (process := _hook(self.args, "rollout_all_samples_process_path")) is not None:
            process(self.args, in_order(self.seen), self.source)
        self._settle_source()

    def _result(self, task: asyncio.Task) -> Group:
        if task.cancelled():
            raise RuntimeError(f"the generation of group {self.working[task]} was cancelled, by none of this module")
        group = task.result()
        if len(group) != self.args.n_samples_per_prompt:
            raise ValueError(
                f"a group came back with {len(group)} samples, not --n-samples-per-prompt "
                f"{self.args.n_samples_per_prompt}; a generate function that makes several returns them as a list"
            )
        return group

    def _say_first(self, group: Group) -> None:
        if not self.seen:
            first = leaves(group)[0]
            logger.info("rollout %d, first sample: %r, label %.100r, reward %s", self.rollout_id,
                        f"{first.prompt}{first.response}", first.label, first.reward)  # fmt: skip


def _hook(args: Namespace, kind: str) -> Callable[..., Any] | None:
    path = getattr(args, kind)
    return None if path is None else load_hook(kind, path)


def _number(group: Group, position: int) -> int:
    """By what a prompt is known; a data source of the user's may give none."""
    number = leaves(group)[0].group_index
    return -1 - position if number is None else number
