"""How old a group may be when it is trained on, and what follows: how many are begun, and which are waited for."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from vime.rollout.groups import Group, leaves

__all__ = ["Bound", "oldest_version", "version_number"]


def version_number(label: object) -> int | None:
    """The number of a weight version; None for an engine's that never was updated, or is just being."""
    text = str(label)
    return int(text) if text.isascii() and text.isdigit() else None


def oldest_version(group: Group) -> int | None:
    """The oldest weights that any token of the group is of, as far as engines told."""
    found = (version_number(label) for leaf in leaves(group) for label in leaf.weight_versions)
    return min((number for number in found if number is not None), default=None)


@dataclass(frozen=True)
class Bound:
    """At most `updates` updates of the weights between the first token of a group and its hand-over.

    A rollout takes `batch` groups; there is an update after `interval` of them.
    """

    updates: int
    batch: int
    interval: int = 1

    @staticmethod
    def of(args: Namespace) -> Bound:
        return Bound(
            updates=getattr(args, "fully_async_max_staleness", 1),
            batch=args.rollout_batch_size,
            interval=getattr(args, "update_weights_interval", 1),
        )

    @property
    def per_update(self) -> int:
        """Groups that are taken from one update to the next."""
        return self.batch * self.interval

    def room(self, outstanding: int, wanted: int) -> int:
        """Groups that may be begun: `wanted` are waited for, and the rest must be taken while it is fresh enough. (The
        rule of AReaL, arXiv:2505.24298, section 4.)"""
        return wanted + self.updates * self.per_update - outstanding

    def slack(self, version: int | None, now: int | None) -> int:
        """Updates that a group may still wait; below 0 it is stale."""
        return self.updates - age(version, now)

    def enough(self, ready: Sequence[int], flying: Sequence[int], wanted: int) -> bool:
        """Whether a rollout can be made of what is `ready`, the oldest first; both are the slacks of groups.

        Within k more updates k * per_update groups are taken. Where more than these have a slack of at most k, the others
        must be among those of now: a group that is slow is waited for, instead of being thrown away later.
        """
        if len(ready) < wanted:
            return False
        for k in range(self.updates + 1):
            here = sum(slack <= k for slack in ready)
            due = here + sum(0 <= slack <= k for slack in flying) - k * self.per_update
            if here < min(wanted, due):
                return False
        return True


def age(version: int | None, now: int | None) -> int:
    """Updates since a version; 0 where it is not known."""
    return 0 if version is None or now is None else max(0, now - version)


def mean_and_max(values: Iterable[int]) -> tuple[float, int]:
    """Of at least one value."""
    found = list(values)
    return sum(found) / len(found), max(found)
