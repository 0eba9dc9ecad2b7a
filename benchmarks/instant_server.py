"""A server in a process of its own that answers at once with bytes made beforehand, so that a benchmark times the client."""

import asyncio
import multiprocessing
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from aiohttp import web

Key = Callable[[str, bytes], Any]
"""Which of the answers a request gets, by its path and its body."""


@contextmanager
def instant_server(
    make_answers: Callable[..., Mapping[Any, bytes]], arguments: tuple[Any, ...], key: Key, content_type: str
) -> Iterator[str]:
    """Its address. `make_answers(*arguments)` is called there; it and `key` are functions of a module."""
    port: multiprocessing.Queue = multiprocessing.Queue()
    told = (port, make_answers, arguments, key, content_type)
    process = multiprocessing.Process(target=_serve, args=told, daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{port.get(timeout=60)}"
    finally:
        process.terminate()
        process.join()


def _serve(port: multiprocessing.Queue, make_answers: Callable, arguments: tuple, key: Key, content_type: str) -> None:
    answers = make_answers(*arguments)

    async def handle(request: web.Request) -> web.Response:
        return web.Response(body=answers[key(request.path, await request.read())], content_type=content_type)

    async def run() -> None:
        app = web.Application()
        app.router.add_post("/{path:.*}", handle)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port.put(site._server.sockets[0].getsockname()[1])
        await asyncio.Event().wait()

    asyncio.run(run())
