import asyncio
import threading


class AsyncLoopThread:
    """An event loop that lives in a daemon thread as long as the process does."""

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()

    def run(self, coro):
        return asyncio.run_coroutine_threadsafe(coro, self.loop).result()


_async_loop: AsyncLoopThread | None = None


def run(coro):
    """Run a coroutine on the shared loop and wait for what it returns."""
    global _async_loop
    if _async_loop is None:
        _async_loop = AsyncLoopThread()
    return _async_loop.run(coro)
