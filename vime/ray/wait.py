"""Waiting for actors: the first failure ends the wait, and errors arrive as what they were."""

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError

from vime.errors import RankDied, says_what_is_wrong

_EXCERPT = 300


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
        with warnings.catch_warnings():
            # An error's class may bring Megatron-core along, which tells of every optional package that is not there.
            warnings.simplefilter("ignore")
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
    """Ray's words, or, where it knows nothing and says that at length, what that comes from."""
    said = str(error).strip()
    if "Worker exit type: SYSTEM_ERROR" in said:
        return "its process was killed, by the kernel for want of memory (dmesg says it) or by somebody, or crashed"
    last = next((line.strip() for line in reversed(said.splitlines()) if line.strip()), "no reason is known")
    return last[:_EXCERPT]
