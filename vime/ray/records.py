"""What passes between the driver and the actors."""

from collections.abc import Mapping
from dataclasses import dataclass

from vime.utils.misc import Box


@dataclass(frozen=True)
class Engines:
    """Where the engines are reached. Control calls and weights go to each of `urls`, requests to `router`."""

    urls: tuple[str, ...]
    router: str


@dataclass(frozen=True)
class Generated:
    """One rollout, ready for the trainer."""

    data: Box
    """Holds a reference to a RolloutBatch in Ray's object store."""
    metrics: Mapping[str, float]
    seconds: float = 0.0
    """How long it was generated."""
