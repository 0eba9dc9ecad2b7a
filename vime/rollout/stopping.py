"""Cut running generations short: every engine is told, until every task is back and the engines are idle."""

from __future__ import annotations

import asyncio
import logging
from argparse import Namespace
from collections.abc import Sequence
from typing import Any

from vime.utils.http_utils import HttpStatusError, get, post

logger = logging.getLogger(__name__)

_ABORT_AGAIN_AFTER = 1.0
"""Seconds."""


async def stop(args: Namespace, state: Any) -> list[asyncio.Task]:
    """Abort what runs on the engines until every task in `state.pendings` is back; those tasks."""
    state.aborted = True
    urls = await engine_urls(args)
    finished: list[asyncio.Task] = []
    while True:
        await _abort_engines(urls)
        if not state.pendings:
            return finished
        # A request may reach its engine just after the engines were told, hence again until nothing runs.
        done, state.pendings = await asyncio.wait(state.pendings, timeout=_ABORT_AGAIN_AFTER)
        finished += done


async def engine_urls(args: Namespace) -> list[str]:
    """The engines behind the router; a single engine has none in front of it, and knows no /workers."""
    base = f"http://{args.vllm_router_ip}:{args.vllm_router_port}"
    try:
        answer = await get(f"{base}/workers")
    except HttpStatusError as error:
        if error.status_code != 404:
            raise
        return [base]
    return [worker["url"] for worker in answer["workers"]]


async def _abort_engines(urls: Sequence[str]) -> None:
    # A dead engine has nothing to abort; its requests are sent elsewhere, and end there.
    told = (post(f"{url}/abort_requests", {}, max_retries=3) for url in urls)
    for url, result in zip(urls, await asyncio.gather(*told, return_exceptions=True), strict=True):
        if isinstance(result, Exception):
            logger.warning("engine %s was not told to abort: %s", url, result)
