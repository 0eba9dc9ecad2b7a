"""How many generations were aborted, by reason, whatever became of the samples afterwards."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from vime.utils.aborted import LIKELY_CAUSES, abort_reason
from vime.utils.types import Sample

__all__ = ["ABORTED_RATIO", "AbortCount"]

logger = logging.getLogger(__name__)

ABORTED_RATIO = "aborted_ratio"


@dataclass
class AbortCount:
    """Counts generations as they come back; a sample that is generated again counts again."""

    generations: int = 0
    reasons: Counter[str] = field(default_factory=Counter)

    def add(self, samples: Iterable[Sample]) -> None:
        for sample in samples:
            self.generations += 1
            if (reason := abort_reason(sample)) is not None:
                self.reasons[reason] += 1

    def ratios(self) -> dict[str, float]:
        """aborted_ratio, and aborted_ratio/REASON for each reason that there was; shares of all generations."""
        if not self.generations:
            return {}
        by_reason = {f"{ABORTED_RATIO}/{reason}": n / self.generations for reason, n in sorted(self.reasons.items())}
        return {ABORTED_RATIO: self.reasons.total() / self.generations, **by_reason}

    def warn(self, rollout_id: int) -> None:
        """Say in the log what was aborted, and what is likely to be the cause."""
        for reason, count in self.reasons.most_common():
            if reason in LIKELY_CAUSES:
                logger.warning(
                    "rollout %d: %d of %d generations were aborted (%s): %s",
                    *(rollout_id, count, self.generations, reason, LIKELY_CAUSES[reason]),
                )
