"""How old a group may be when it is trained on, and what follows: how many are begun, and which are waited for."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from vime.rollout.groups import Group, leaves
from vime.utils.misc import should_run_periodic_action

__all__ = ["Bound", "oldest_version", "version_number"]

_CHECKPOINT = "default"
"""vLLM's name for the weights that an engine was started with."""


def version_number(label: object) -> int | None:
    """The number of a weight version: 0 for the checkpoint's, which every engine starts with; None for what tells nothing."""
    text = str(label)
    if text == _CHECKPOINT:
        return 0
    return int(text) if text.isascii() and text.isdigit() else None


def oldest_version(group: Group) -> int | None:
    """The oldest weights that any token of the group is of, as far as engines told."""
    found = (version_number(label) for leaf in leaves(group) for label in leaf.weight_versions)
    return min((number for number in found if number is not None), default=None)


@dataclass(frozen=True)
class Bound:
    """At most `updates` updates of the weights between the first token of a group and its hand-over.

    A rollout takes `batch` groups. `rollouts[k]` of them are taken at least from one update to the k-th after it.
    """

    updates: int
    batch: int
    rollouts: tuple[int, ...]

    @staticmethod
    def of(args: Namespace) -> Bound:
        """That of the options, with the run's length as vime.ray.run_length found it."""
        intervals = args.update_weights_interval, args.eval_interval, args.num_rollout_per_epoch
        updates = args.fully_async_max_staleness
        return Bound(updates, args.rollout_batch_size, _rollouts_between(updates, args.num_rollout, *intervals))

    def taken(self, updates: int) -> int:
        """Groups that are taken at least within so many more updates."""
        return self.batch * self.rollouts[updates]

    def room(self, outstanding: int, wanted: int) -> int:
        """Groups that may be begun: `wanted` are waited for, and the rest must be taken while it is fresh enough. (The
        rule of AReaL, arXiv:2505.24298, section 4.)"""
        return wanted + self.taken(self.updates) - outstanding

    def slack(self, version: int | None, now: int | None) -> int:
        """Updates that a group may still wait; below 0 it is stale."""
        return self.updates - age(version, now)

    def enough(self, ready: Sequence[int], flying: Sequence[int], wanted: int) -> bool:
        """Whether a rollout can be made of what is `ready`, the oldest first; both are the slacks of groups.

        Within k more updates `taken(k)` groups are taken. Where more than these have a slack of at most k, the others
        must be among those of now: a group that is slow is waited for, instead of being thrown away later.
        """
        if len(ready) < wanted:
            return False
        for k in range(self.updates + 1):
            here = sum(slack <= k for slack in ready)
            due = here + sum(0 <= slack <= k for slack in flying) - self.taken(k)
            if here < min(wanted, due):
                return False
        return True


def _rollouts_between(
    updates: int, total: int, interval: int, eval_interval: int | None, per_epoch: int | None
) -> tuple[int, ...]:
    """The fewest rollouts from one update to the k-th after it, for each k up to `updates`. There is one before each
    evaluation, too: see Schedule.sync of vime.train.loop."""
    after = [0]
    for rollout_id in range(total):
        if (rollout_id + 1) % interval == 0 or should_run_periodic_action(rollout_id, eval_interval, per_epoch):
            after.append(rollout_id + 1)
    return tuple(min((b - a for a, b in zip(after, after[k:])), default=total) for k in range(updates + 1))


def age(version: int | None, now: int | None) -> int:
    """Updates since a version; 0 where it is not known."""
    return 0 if version is None or now is None else max(0, now - version)


def mean_and_max(values: Iterable[int]) -> tuple[float, int]:
    """Of at least one value."""
    found = list(values)
    return sum(found) / len(found), max(found)
