"""Every prompt is accounted for: issued = trained + dropped + buffered + in flight."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from vime.errors import travels


@travels
class PromptsUnaccountedFor(RuntimeError):
    """Prompts were lost or counted twice; names their groups where they are known."""

    def __init__(self, what: str, groups: Iterable[int] = (), count: int | None = None) -> None:
        self.groups = tuple(sorted(groups))
        self.count = len(self.groups) if count is None else count
        shown = ", ".join(map(str, self.groups[:20])) + (", ..." if len(self.groups) > 20 else "")
        super().__init__(f"{self.count} prompt(s) {what}" + (f": groups {shown}" if shown else ""))


@dataclass
class Ledger:
    """The prompts of one rollout by what became of them; a prompt is known by the number of its group."""

    in_flight: set[int] = field(default_factory=set)
    trained: set[int] = field(default_factory=set)
    dropped: dict[int, str] = field(default_factory=dict)
    buffered: set[int] = field(default_factory=set)
    _issued: set[int] = field(default_factory=set)

    @property
    def issued(self) -> int:
        return len(self._issued)

    def issue(self, group: int) -> None:
        """A prompt came out of the data source. Raises PromptsUnaccountedFor where it did already, and did not go back."""
        if group in self.buffered:
            self.buffered.remove(group)
        elif group in self._issued:
            raise PromptsUnaccountedFor("issued twice by the data source in one rollout", [group])
        self._issued.add(group)
        self.in_flight.add(group)

    def train(self, group: int) -> None:
        self._leave(group)
        self.trained.add(group)

    def drop(self, group: int, reason: str) -> None:
        self._leave(group)
        self.dropped[group] = reason

    def buffer(self, group: int) -> None:
        self._leave(group)
        self.buffered.add(group)

    def check(self, under_way: Iterable[int] = ()) -> None:
        """Raises PromptsUnaccountedFor unless each issued prompt is in one place, and none is in flight but those that are
        still `under_way`."""
        if strays := self.in_flight ^ set(under_way):
            raise PromptsUnaccountedFor("still in flight at the end of the rollout, or under way unknown", strays)
        places = Counter([*self.trained, *self.dropped, *self.buffered, *self.in_flight])
        lost = self._issued - places.keys()
        if lost:
            raise PromptsUnaccountedFor("lost", lost)
        twice = {group for group, count in places.items() if count > 1} | (places.keys() - self._issued)
        if twice:
            raise PromptsUnaccountedFor("in two places, or never issued", twice)

    def reasons(self) -> dict[str, int]:
        """How many were dropped, by reason."""
        return dict(Counter(self.dropped.values()))

    def metrics(self) -> dict[str, int]:
        """Counts under rollout/prompts_*."""
        return {
            "rollout/prompts_issued": self.issued,
            "rollout/prompts_trained": len(self.trained),
            "rollout/prompts_dropped": len(self.dropped),
            "rollout/prompts_buffered": len(self.buffered),
            **{f"rollout/prompts_dropped/{reason}": count for reason, count in self.reasons().items()},
        }

    def carried_on(self) -> Ledger:
        """The books of the next rollout: what is in flight counts as issued."""
        return Ledger(in_flight=set(self.in_flight), _issued=set(self.in_flight))

    def _leave(self, group: int) -> None:
        if group not in self.in_flight:
            raise PromptsUnaccountedFor("settled twice, or never issued", [group])
        self.in_flight.remove(group)
