"""The groups that a data source gave out and that are not settled: what a checkpoint has to hold beside the buffer."""

from __future__ import annotations

from collections.abc import Iterable

from vime.rollout.groups import Group, leaves, snapshot


class Outstanding:
    """Groups under way, by group_index, as they were when their rollout function last said so."""

    def __init__(self) -> None:
        self._groups: dict[int, Group] = {}

    def hold(self, groups: Iterable[Group]) -> None:
        """They are under way, as they are now: of a group that is known already the later state counts."""
        self._groups |= {_number(group): snapshot(group) for group in groups}

    def release(self, numbers: Iterable[int]) -> None:
        """They are under way no more."""
        for number in numbers:
            self._groups.pop(number, None)

    def take_back(self, groups: Iterable[Group]) -> None:
        """They are in the buffer again."""
        self.release(map(_number, groups))

    def groups(self) -> list[Group]:
        """In their order."""
        return [group for _, group in sorted(self._groups.items())]

    def clear(self) -> None:
        self._groups.clear()


def _number(group: Group) -> int:
    return leaves(group)[0].group_index
