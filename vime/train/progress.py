"""What a person sees of a run while it runs."""

from collections.abc import Mapping
from typing import Protocol


class Progress(Protocol):
    """Told how a run comes along."""

    def starting(self, line: str) -> None:
        """How far the start is; called about once a second."""

    def begin(self, first: int, total: int) -> None:
        """The loop begins."""

    def step(self, step_key: str, step: int, metrics: Mapping[str, float]) -> None:
        """A rollout was trained on, or an evaluation is done."""

    def say(self, line: str) -> None:
        """Something happened that a person should know."""
