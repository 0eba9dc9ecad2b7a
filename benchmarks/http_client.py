"""Requests a second of vime's HTTP client beside bare aiohttp, against one server in a process of its own.

Prints one line a setting; the ratio is ours / aiohttp's in the same run, 1.0 being the limit.
"""

import asyncio
import json
import multiprocessing
import time
from collections.abc import Awaitable, Callable

import aiohttp
from aiohttp import web

from vime.utils.http_client import HttpClient

SETTINGS = ((8, 16), (64, 16), (64, 256), (512, 256))
REQUESTS = 2000
PAYLOAD = {"token_ids": list(range(500)), "sampling_params": {"max_tokens": 16, "logprobs": 1}}


def serve(port: multiprocessing.Queue) -> None:
    def answer(tokens: int) -> bytes:
        content = [{"token_id": i, "logprob": -1.234567, "rank": 1} for i in range(tokens)]
        return json.dumps({"choices": [{"token_ids": list(range(tokens)), "logprobs": {"content": content}}]}).encode()

    async def handle(request: web.Request) -> web.Response:
        await request.read()
        return web.Response(body=answers[int(request.path[1:])], content_type="application/json")

    async def run() -> None:
        app = web.Application()
        app.router.add_post("/{tokens}", handle)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port.put(site._server.sockets[0].getsockname()[1])
        await asyncio.Event().wait()

    answers = {tokens: answer(tokens) for _, tokens in SETTINGS}
    asyncio.run(run())


async def rate(send: Callable[[], Awaitable[object]], concurrency: int) -> float:
    left = iter(range(REQUESTS))

    async def worker() -> None:
        for _ in left:
            await send()

    started = time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(concurrency)))
    return REQUESTS / (time.perf_counter() - started)


async def compare(base: str) -> None:
    ours = HttpClient(max_connections=512)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=512)) as session:
        for concurrency, tokens in SETTINGS:
            url = f"{base}/{tokens}"

            async def bare(url: str = url) -> object:
                async with session.post(url, json=PAYLOAD) as response:
                    return await response.json()

            theirs = await rate(bare, concurrency)
            mine = await rate(lambda url=url: ours.post(url, PAYLOAD), concurrency)
            print(
                f"{concurrency:4} at once, {tokens:4} tokens: {mine:6.0f}/s, aiohttp {theirs:6.0f}/s,"
                f" ratio {mine / theirs:.2f}"
            )


def main() -> None:
    port: multiprocessing.Queue = multiprocessing.Queue()
    server = multiprocessing.Process(target=serve, args=(port,), daemon=True)
    server.start()
    asyncio.run(compare(f"http://127.0.0.1:{port.get(timeout=30)}"))
    server.terminate()


if __name__ == "__main__":
    main()
