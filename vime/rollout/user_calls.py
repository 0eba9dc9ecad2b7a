"""Functions of the user's in an event loop of their own, so that one which blocks does not stop the rollout."""

from __future__ import annotations

import asyncio
import atexit
import logging
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from vime.utils.async_utils import AsyncLoopThread

logger = logging.getLogger(__name__)

T = TypeVar("T")
_SIGN_OF_LIFE = 1.0
"""Seconds within which a loop that is not blocked runs something."""


class UserCalls:
    """Runs coroutines in a thread. A function that blocks it costs its own deadline: the thread is left to it, and the
    other calls that were waiting there begin again in a new one."""

    def __init__(self) -> None:
        self._thread: AsyncLoopThread | None = None
        self._blocked: asyncio.Event | None = None

    async def run(self, make: Callable[[], Coroutine[Any, Any, T]], seconds: float) -> T:
        """The result of `make()`. Raises TimeoutError after `seconds`, and what the coroutine raises."""
        while True:
            thread, blocked = self._current()
            began: list[bool] = []
            future = asyncio.wrap_future(asyncio.run_coroutine_threadsafe(_noted(make, began), thread.loop))
            warned = asyncio.ensure_future(blocked.wait())
            try:
                await asyncio.wait({future, warned}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
                if future.done():
                    return future.result()
            finally:
                warned.cancel()
                future.cancel()
            if not blocked.is_set():
                await self._leave_if_blocked(thread, blocked)
                if not blocked.is_set() or began:
                    raise TimeoutError(f"no result within {seconds:g} s")

    def close(self) -> None:
        """End the thread."""
        if self._thread is not None:
            atexit.unregister(self._thread.close)
            self._thread.close()
            self._thread = None

    def _current(self) -> tuple[AsyncLoopThread, asyncio.Event]:
        if self._thread is None:
            self._thread, self._blocked = AsyncLoopThread(), asyncio.Event()
            atexit.register(self._thread.close)
        return self._thread, self._blocked

    async def _leave_if_blocked(self, thread: AsyncLoopThread, blocked: asyncio.Event) -> None:
        alive = asyncio.wrap_future(asyncio.run_coroutine_threadsafe(asyncio.sleep(0), thread.loop))
        done, _ = await asyncio.wait({alive}, timeout=_SIGN_OF_LIFE)
        if done or blocked.is_set():
            return
        logger.warning("a reward function blocks its event loop; it is left alone, and others go on in a new one")
        alive.cancel()
        atexit.unregister(thread.close)
        blocked.set()
        if self._thread is thread:
            self._thread = None


async def _noted(make: Callable[[], Coroutine[Any, Any, T]], began: list[bool]) -> T:
    began.append(True)
    return await make()
