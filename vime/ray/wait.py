"""Waiting for actors: the first failure ends the wait, and errors arrive as what they were."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError

from vime.errors import RankDied, says_what_is_wrong


def _nothing() -> None:
    """What there is to do while waiting."""


def result(ref: Any, who: str) -> Any:
    """What `ref` comes to. Raises the actor's own error, or RankDied when `who` is gone."""
    return results({who: ref})[0]


def results(refs: Mapping[str, Any], meanwhile: Callable[[], None] = _nothing, every: float | None = None) -> list[Any]:
    """What each comes to, in order; the first that fails is raised at once, since the others may wait for it for ever.

    `meanwhile` is called `every` so many seconds in which nothing came; what it raises ends the wait.
    """
    waiting = {ref: who for who, ref in refs.items()}
    found: dict[Any, Any] = {}
    while len(found) < len(waiting):
        left = [ref for ref in waiting if ref not in found]
        ready = ray.wait(left, num_returns=1, timeout=every)[0]
        for ref in ready:
            found[ref] = _get(ref, waiting[ref])
        if not ready:
            meanwhile()
    return [found[ref] for ref in waiting]


def _get(ref: Any, who: str) -> Any:
    try:
        return ray.get(ref)
    except RayTaskError as error:
        cause = error.cause
        if says_what_is_wrong(cause):
            raise cause from None
        raise
    except RayError as error:
        raise RankDied(
            f"{who} ended: {_reason(error)}", "start the run again: it goes on from its last checkpoint (--load)"
        ) from None


def _reason(error: RayError) -> str:
    lines: Sequence[str] = str(error).strip().splitlines()
    return next((line.strip() for line in reversed(lines) if line.strip()), "no reason is known")
