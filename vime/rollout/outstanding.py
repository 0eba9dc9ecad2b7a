"""The groups that a data source gave out and that are not settled: what a checkpoint has to hold beside the buffer."""

from __future__ import annotations

from collections.abc import Iterable

from vime.rollout.groups import Group, leaves, snapshot

_AHEAD = 8
"""Rollouts that a loop may have generated and not trained on."""


class Outstanding:
    """Groups under way, and those that were handed to rollouts which may not be trained on yet; by group_index."""

    def __init__(self) -> None:
        self._out: dict[int, Group] = {}
        self._handed: dict[int, dict[int, Group]] = {}

    def hold(self, groups: Iterable[Group]) -> None:
        """They are under way, as they are now: of a group that is known already the later state counts."""
        self._out |= {_number(group): snapshot(group) for group in groups}

    def release(self, numbers: Iterable[int], rollout_id: int | None = None) -> None:
        """They are under way no more; those that were handed to a rollout are kept until later ones are."""
        released = {number: self._out.pop(number) for number in numbers if number in self._out}
        if rollout_id is not None:
            self._handed.setdefault(rollout_id, {}).update(released)
            self._handed = {one: groups for one, groups in self._handed.items() if one > rollout_id - _AHEAD}

    def take_back(self, groups: Iterable[Group]) -> None:
        """They are in the buffer again."""
        self.release(_number(group) for group in groups)

    def handed_after(self, rollout_id: int) -> list[Group]:
        """The groups that were handed to later rollouts than this, in their order."""
        return [
            group for one in sorted(self._handed) if one > rollout_id for _, group in sorted(self._handed[one].items())
        ]

    def under_way(self) -> list[Group]:
        """In their order."""
        return [group for _, group in sorted(self._out.items())]

    def clear(self) -> None:
        self._out.clear(), self._handed.clear()


def _number(group: Group) -> int:
    return leaves(group)[0].group_index
