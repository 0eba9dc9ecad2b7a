"""What is aborted while a rollout is made: counted, told, and given up where generating again is in vain."""

from __future__ import annotations

from argparse import Namespace
from collections import Counter

from vime.errors import travels
from vime.observability.abort_metrics import AbortCount
from vime.observability.metric_utils import dict_add_prefix
from vime.rollout.engine_call import Patience
from vime.rollout.groups import Group, leaves
from vime.utils.aborted import LIKELY_CAUSES, OF_ITSELF, abort_reason

__all__ = ["AbortedInVain", "Aborts"]


@travels
class AbortedInVain(RuntimeError):
    """The answers to a prompt could not be used, however often it was generated; names the likely cause."""

    def __init__(self, group: int, reason: str, times: int) -> None:
        super().__init__(
            f"group {group} was aborted {times} times ({reason}): {LIKELY_CAUSES.get(reason, 'see the log')}"
        )
        self.group, self.reason = group, reason


class Aborts:
    """One for all rollouts of a rollout function, or for each."""

    def __init__(self, args: Namespace) -> None:
        self._attempts = Patience.of(args).attempts
        self._count = AbortCount()
        self._in_vain: Counter[int] = Counter()

    def came(self, number: int, group: Group) -> None:
        """A group came back. Raises AbortedInVain for one whose answers are of no use however often it is generated."""
        samples = leaves(group)
        self._count.add(samples)
        reason = next((why for sample in samples if (why := abort_reason(sample)) in OF_ITSELF), None)
        if reason is None:
            self._in_vain.pop(number, None)
            return
        self._in_vain[number] += 1
        if self._in_vain[number] >= self._attempts:
            raise AbortedInVain(number, reason, self._in_vain[number])

    def metrics(self, rollout_id: int) -> dict[str, float]:
        """rollout/aborted_ratio, and by reason, since the last time; the log has the likely causes."""
        count, self._count = self._count, AbortCount()
        count.warn(rollout_id)
        return dict_add_prefix(count.ratios(), "rollout/")
