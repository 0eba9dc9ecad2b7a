"""Calls to several engines at once: wait for all of them, show how far they are, end them."""

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any

from vime.ray.handles import EngineHandle

logger = logging.getLogger(__name__)

Progress = Callable[[str], None]
"""Called with a line for a person, about once a second, while engines start."""

_TELL = 1.0
_STATUS_WITHIN = 5.0
_STOPPED_WITHIN = 30.0


def together(
    starting: Mapping[int, "Future[str]"], engines: Iterable[EngineHandle], progress: Progress | None
) -> dict[int, str]:
    """The address of each engine once all have started; the first that fails ends the wait, with its error."""
    began = time.monotonic()
    waiting = set(starting.values())
    while waiting:
        done, waiting = wait(waiting, timeout=_TELL, return_when=FIRST_COMPLETED)
        for future in done:
            future.result()
        if waiting and progress is not None:
            progress(_line(time.monotonic() - began, len(starting) - len(waiting), len(starting), engines))
    return {rank: future.result() for rank, future in starting.items()}


def failure(future: "Future[Any]", timeout: float) -> Exception | None:
    """Why a call failed, or has no outcome after `timeout` seconds; None where it succeeded."""
    try:
        future.result(timeout=timeout)
    except Exception as error:
        return error
    return None


def stop_engines(engines: Iterable[EngineHandle]) -> None:
    """End every engine that was started here, all at the same time."""
    ending = [(engine, engine.submit("shutdown")) for engine in engines]
    for engine, future in ending:
        if error := failure(future, _STOPPED_WITHIN):
            logger.warning("engine %d did not stop by itself: %s", engine.spec.rank, error)
        engine.close()


def _line(seconds: float, ready: int, total: int, engines: Iterable[EngineHandle]) -> str:
    asked = [engine.submit("status") for engine in engines]
    said = [status.result() for status in asked if not failure(status, _STATUS_WITHIN)]
    busy = next((one.doing for one in said if one.state == "starting" and one.doing), "")
    return f"engines: {ready} of {total} ready, {seconds:.0f} s{': ' + busy[:100] if busy else ''}"
