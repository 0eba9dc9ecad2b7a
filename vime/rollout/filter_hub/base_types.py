"""Whether a group is kept, and how many were not, by reason."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass
class DynamicFilterOutput:
    """What a filter says of a group."""

    keep: bool
    reason: str | None = None
    keep_when_insufficient: bool = False
    """Keep it all the same where the rollout would have to ask for more prompts otherwise."""


def should_drop_dynamic_filter_output(
    output: DynamicFilterOutput, *, remaining_batch_size: int, target_data_size: int
) -> bool:
    """Whether the group goes: `remaining_batch_size` groups are left with it, `target_data_size` are needed."""
    needed = output.keep_when_insufficient and remaining_batch_size <= target_data_size
    return not (output.keep or needed)


def call_dynamic_filter(fn: Callable[..., Any] | None, *args: Any, **kwargs: Any) -> DynamicFilterOutput:
    """What `fn` says; without one every group is kept, and a bare truth value is accepted."""
    if fn is None:
        return DynamicFilterOutput(keep=True)
    output = fn(*args, **kwargs)
    return output if isinstance(output, DynamicFilterOutput) else DynamicFilterOutput(keep=bool(output))


class MetricGatherer:
    """Counts drops by reason."""

    def __init__(self) -> None:
        self._drops: Counter[str] = Counter()

    def on_dynamic_filter_drop(self, reason: str | None) -> None:
        if reason:
            self._drops[reason] += 1

    def collect(self) -> dict[str, int]:
        return {f"rollout/dynamic_filter/drop_{reason}": count for reason, count in self._drops.items()}
