"""Make engines idle: abort what they have until nothing is left."""

import asyncio
import logging
from collections.abc import Sequence
from typing import Any

from vime.backends.vllm_utils.seam import read_load
from vime.utils.http_utils import HttpError, get, post

logger = logging.getLogger(__name__)

ABORT_RETRY_INTERVAL_SECONDS = 0.5
"""A request may reach an engine just after it was told to abort; the engine is asked again so often."""


def num_requests_from_load(load: Any) -> int:
    """How many requests a load report counts: vLLM's, upstream's of one rank or of several, or a list of such."""
    load = read_load(load)
    if isinstance(load, list):
        return sum(map(num_requests_from_load, load))
    if not isinstance(load, dict):
        return 0
    if "loads" in load:
        return num_requests_from_load(load["loads"])
    for total in ("num_reqs", "num_total_reqs", "total_reqs"):
        if isinstance(load.get(total), int):
            return load[total]
    running = load.get("num_running_reqs", load.get("total_running_reqs"))
    waiting = load.get("num_waiting_reqs", load.get("total_waiting_reqs"))
    return sum(count for count in (running, waiting) if isinstance(count, int))


async def abort_server_until_idle(url: str, retry_interval: float | None = None) -> None:
    """Abort everything on the engine at `url`, again and again until it has nothing.

    An engine that does not answer has nothing to abort, and is left to who watches it. Its count needs the option
    --enable-server-load-tracking, with which every engine of a run is started; without it, it always is 0.
    """
    while True:
        try:
            await post(f"{url}/abort_requests", {}, max_retries=3)
            count = num_requests_from_load(await get(f"{url}/load"))
        except HttpError as error:
            logger.warning("engine %s could not be told to abort: %s", url, error)
            return
        if count <= 0:
            return
        await asyncio.sleep(ABORT_RETRY_INTERVAL_SECONDS if retry_interval is None else retry_interval)


async def abort_servers_until_idle(urls: Sequence[str]) -> None:
    """Abort everything on every engine, at the same time."""
    await asyncio.gather(*(abort_server_until_idle(url) for url in urls))
