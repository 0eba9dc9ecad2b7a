"""Several coroutines at once, all or nothing."""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

T = TypeVar("T")


async def together(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Their results in order. Where one raises the others are cancelled, awaited, and what it raised is raised."""
    tasks = [asyncio.create_task(one) for one in work]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        await cancel(tasks)
        raise


async def cancel(tasks: Iterable[asyncio.Task]) -> None:
    """Cancel them and wait until they are over, whatever they raise; also where this is cancelled, which is raised then."""
    tasks, cancelled = list(tasks), None
    for task in tasks:
        task.cancel()
    while left := [task for task in tasks if not task.done()]:
        try:
            await asyncio.wait(left)
        except asyncio.CancelledError as error:
            cancelled = error
    await asyncio.gather(*tasks, return_exceptions=True)  # so that what they raised counts as seen
    if cancelled is not None:
        raise cancelled
