from collections import Counter
from dataclasses import dataclass


@dataclass
class DynamicFilterOutput:
    keep: bool
    reason: str | None = None


def call_dynamic_filter(fn, *args) -> DynamicFilterOutput:
    """Asks the filter, if there is one; a filter may also answer with a plain bool."""
    output = True if fn is None else fn(*args)
    return output if isinstance(output, DynamicFilterOutput) else DynamicFilterOutput(keep=bool(output))


class MetricGatherer:
    def __init__(self):
        self.dropped = Counter()

    def on_dynamic_filter_drop(self, reason: str | None) -> None:
        self.dropped[reason or "unnamed"] += 1

    def collect(self) -> dict[str, int]:
        return {f"rollout/dynamic_filter/drop_{reason}": count for reason, count in self.dropped.items()}
