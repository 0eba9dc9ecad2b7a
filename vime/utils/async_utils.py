"""One event loop in the background, for callers that are not asynchronous themselves."""

import asyncio
import atexit
import threading
from collections.abc import Coroutine
from functools import cache
from typing import Any, TypeVar

__all__ = ["AsyncLoopThread", "get_async_loop", "run"]

T = TypeVar("T")
_CLEAN_UP_SECONDS = 10.0
_ONE_AT_A_TIME = threading.Lock()


class AsyncLoopThread:
    """An event loop that runs in a daemon thread until `close`."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name="vime-async", daemon=True)
        self._thread.start()

    def run(self, coro: Coroutine[Any, Any, T]) -> T:
        """Run `coro` there and wait for it; what it raises is raised here. An interrupt here cancels it there, and is
        raised when it has cleaned up."""
        if threading.current_thread() is self._thread:
            coro.close()
            raise RuntimeError("run() was called on its own event loop, which it would block: use await")
        over = threading.Event()
        future = asyncio.run_coroutine_threadsafe(_until_over(coro, over), self.loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            over.wait(_CLEAN_UP_SECONDS)
            raise

    def close(self) -> None:
        """Stop the loop, after what runs in it was cancelled and what it holds open (connection pools) is closed."""
        if self.loop.is_closed():
            return
        asyncio.run_coroutine_threadsafe(_cancel_others(), self.loop).result(timeout=2 * _CLEAN_UP_SECONDS)
        asyncio.run_coroutine_threadsafe(self.loop.shutdown_asyncgens(), self.loop).result(timeout=5)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(timeout=5)
        self.loop.close()


async def _until_over(coro: Coroutine[Any, Any, T], over: threading.Event) -> T:
    try:
        return await coro
    finally:
        over.set()


async def _cancel_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    if others:
        await asyncio.wait(others, timeout=_CLEAN_UP_SECONDS)


def get_async_loop() -> AsyncLoopThread:
    """The process's background loop, started by the first call, from whichever thread that comes."""
    with _ONE_AT_A_TIME:  # a cache alone lets two first calls make two, and one would cancel what runs in the other
        return _background()


@cache
def _background() -> AsyncLoopThread:
    thread = AsyncLoopThread()
    atexit.register(thread.close)
    return thread


def run(coro: Coroutine[Any, Any, T]) -> T:
    """Run `coro` on the background loop and wait for its result."""
    return get_async_loop().run(coro)
