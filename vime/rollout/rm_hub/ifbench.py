"""IFBench is not here: its checks are a repository without a package, which would have to be fetched and run as it is."""

from collections.abc import Mapping
from typing import Any


class RewardTypeRefused(NotImplementedError):
    """A type of reward that this framework does not have; says why, and what to do."""


def compute_ifbench_reward(response: str, label: Any, metadata: Mapping[str, Any] | None = None) -> float:
    """Raises RewardTypeRefused."""
    raise RewardTypeRefused(
        "--rm-type ifbench: its checks are code of github.com/allenai/IFBench, which is no package and is not fetched "
        "during training; install it, and call its checks from a function that --custom-rm-path names"
    )
