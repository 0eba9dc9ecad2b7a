"""The background event loop ends what runs in it."""

import asyncio

from vime.utils.async_utils import AsyncLoopThread


def test_what_runs_is_cancelled_before_the_loop_is_closed():
    thread, seen = AsyncLoopThread(), []

    async def goes_on():
        try:
            await asyncio.sleep(60)
        finally:
            seen.append("ended")

    async def begin():
        seen.append(asyncio.create_task(goes_on()))
        await asyncio.sleep(0)

    thread.run(begin())
    thread.close()
    assert seen[1:] == ["ended"] and seen[0].cancelled() and thread.loop.is_closed()
    thread.close()
