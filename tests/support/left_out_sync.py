"""A fault to put into a trainer: a weight sync that says it was done, and was not."""

from argparse import Namespace
from typing import Any


def leave_out_the_third(args: Namespace) -> None:
    """For --custom-megatron-init-path. The third sync is that after the second update."""
    from vime.backends.megatron_utils.update_weight.session import SyncReport, WeightSync

    real, seen = WeightSync.update, []

    def update(self: WeightSync, tensors: Any, plan: Any, version: str) -> SyncReport:
        seen.append(version)
        if len(seen) == 3:
            return SyncReport(version, plan.nbytes, 0.01, 0.01, 1)
        return real(self, tensors, plan, version)

    WeightSync.update = update  # type: ignore[method-assign]
