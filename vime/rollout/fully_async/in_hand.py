"""The groups that the worker has, by where they are: being generated, or ready to be handed over."""

from __future__ import annotations

from argparse import Namespace
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from vime.rollout.aborts import Aborts
from vime.rollout.accounting import Ledger
from vime.rollout.base_types import RolloutFnTrainOutput
from vime.rollout.fully_async.staleness import Bound, age, mean_and_max, oldest_version
from vime.rollout.fully_async.versions import Versions
from vime.rollout.groups import Group, fresh, in_order, leaves, name_leaves, snapshot, to_go_on
from vime.rollout.keeping import Keeping, Prompts, number_of

__all__ = ["InHand", "Picked"]


@dataclass(frozen=True)
class _Flying:
    """A group that is generated: as it was, and the weights that it was begun with."""

    issued: Group
    version: int | None


@dataclass(frozen=True)
class Picked:
    """A group that is ready, and the oldest weights that it is of."""

    number: int
    issued: Group
    group: Group
    version: int | None


class InHand:
    """Keeps the books: each group is in flight in the ledger from the moment it is taken until it is settled."""

    def __init__(self, args: Namespace, source: Any, bound: Bound) -> None:
        self.args, self.bound, self.versions = args, bound, Versions()
        self.prompts = Prompts(source)
        self.aborts = Aborts(args)
        self.flying: dict[int, _Flying] = {}
        self.ready: list[Picked] = []
        self.unnamed = 0
        self.returned = False
        """Whether anything went back since the source was asked last."""
        self._begin_rollout(Ledger())

    def _begin_rollout(self, ledger: Ledger) -> None:
        self.ledger, self.keeping = ledger, Keeping(self.args)
        self.seen: list[tuple[int, Group]] = []
        self.went_back: Counter[str] = Counter()

    def take(self) -> list[tuple[int, Group]]:
        """The next groups of the source, by their numbers: one, or none where it has none for now."""
        self.returned = False
        return [self._begin(group) for group in self.prompts.take(self.prompts.source.get_samples, 1)]

    def _begin(self, group: Group) -> tuple[int, Group]:
        if self._slack(oldest_version(group)) < 0:
            # It was cut short too long ago.
            group = [fresh(leaves(item)[0]) for item in group]
            self.went_back["stale"] += 1
        number = number_of(group, self.unnamed)
        self.unnamed += 1
        self.ledger.issue(number)
        version = oldest_version(group)
        self.flying[number] = _Flying(snapshot(group), self.versions.now if version is None else version)
        return number, group

    def finish(self, number: int, group: Group, rollout_id: int, cut_short: bool) -> None:
        """A group has come: it is ready, dropped, or goes back where it was cut short."""
        begun = self.flying[number]
        self.versions.saw(group)
        self.aborts.came(number, group)
        if cut_short:
            again = to_go_on(group, begun.issued, rollout_id, self.args.partial_rollout)
            self._return(number, again, "aborted")
            del self.flying[number]
            return
        name_leaves(group, begun.issued)
        reason = self.keeping.reason_to_drop(group, len(self.ledger.in_flight))
        del self.flying[number]
        self.seen.append((number, group))
        if reason is not None:
            self.ledger.drop(number, reason)
            return
        version = oldest_version(group)
        picked = Picked(number, begun.issued, group, begun.version if version is None else version)
        self.ready.append(picked)
        self.prompts.hold([self._as_it_goes_back(picked)])

    def pick(self, wanted: int) -> list[Picked] | None:
        """`wanted` groups that are ready, the oldest first; None where more are to be waited for. What is stale goes back."""
        for picked in [one for one in self.ready if self._slack(one.version) < 0]:
            self._return(picked.number, [fresh(leaves(item)[0]) for item in picked.issued], "stale")
            self.ready.remove(picked)
        ordered = self._in_turn()
        flying = [self._slack(one.version) for one in self.flying.values()]
        if not self.bound.enough([self._slack(one.version) for one in ordered], flying, wanted):
            return None
        return ordered[:wanted]

    def hand_over(self, picked: list[Picked]) -> RolloutFnTrainOutput:
        """The rollout that is made of these. What a function of the user's raises leaves them in hand. Raises
        PromptsUnaccountedFor."""
        kept = [(one.number, one.group) for one in picked]
        self.keeping.show(kept, self.seen, self.prompts.source)
        numbers = {one.number for one in picked}
        self.ready = [one for one in self.ready if one.number not in numbers]
        for number in sorted(numbers):
            self.ledger.train(number)
        self.ledger.check([*self.flying, *(one.number for one in self.ready)])
        metrics = self.keeping.gatherer.collect() | self.ledger.metrics() | self._metrics(picked)
        self.prompts.settle(self.ledger)
        self._begin_rollout(self.ledger.carried_on())
        self.prompts.check_balance(len(self.ledger.in_flight))
        return RolloutFnTrainOutput(samples=in_order(kept), metrics=metrics)

    def take_ready(self, count: int) -> list[tuple[int, Group]]:
        """The oldest groups that are ready, handed over without the functions of the user's."""
        taken = self._in_turn()[:count]
        for one in taken:
            self.ready.remove(one)
            self.ledger.train(one.number)
        self.prompts.settle(self.ledger)
        self._begin_rollout(self.ledger.carried_on())
        return [(one.number, one.group) for one in taken]

    def give_back(self) -> None:
        """Everything goes back: what is ready as it is, the rest as it was."""
        back = {number: list(one.issued) for number, one in self.flying.items()}
        back |= {one.number: self._as_it_goes_back(one) for one in self.ready}
        self.flying, self.ready = {}, []
        for number in sorted(self.ledger.in_flight):
            self._settle_back(number)
        if self.prompts.takes_back and back:
            self.prompts.source.add_samples([group for _, group in sorted(back.items())])
        self.prompts.settle(self.ledger)
        self._begin_rollout(self.ledger.carried_on())

    def _return(self, number: int, group: Group, why: str) -> None:
        if self.prompts.takes_back:
            self.prompts.source.add_samples([group])
            self.returned = True
        self._settle_back(number)
        self.went_back[why] += 1

    def _settle_back(self, number: int) -> None:
        if self.prompts.takes_back:
            self.ledger.buffer(number)
        else:
            self.ledger.drop(number, "not_taken_back")

    def _as_it_goes_back(self, picked: Picked) -> Group:
        """A group that is ready needs not be generated again; but one whose age nothing tells begins anew."""
        if oldest_version(picked.group) is None:
            return list(picked.issued)
        return picked.group

    def _in_turn(self) -> list[Picked]:
        """What is ready, the oldest first, and of these what was given out first."""
        return sorted(self.ready, key=lambda one: (self._slack(one.version), one.number))

    def _slack(self, version: int | None) -> int:
        return self.bound.slack(version, self.versions.now)

    def _metrics(self, picked: Iterable[Picked]) -> dict[str, float]:
        mean, largest = mean_and_max(age(one.version, self.versions.now) for one in picked)
        return {
            "rollout/prompts_in_flight": len(self.ledger.in_flight),
            "rollout/fully_async/queue_size": len(self.ready),
            "rollout/fully_async/running": len(self.flying),
            "rollout/fully_async/staleness_mean": mean,
            "rollout/fully_async/staleness_max": largest,
            "rollout/fully_async/stale_requeued": self.went_back["stale"],
            "rollout/fully_async/aborted_requeued": self.went_back["aborted"],
        }
