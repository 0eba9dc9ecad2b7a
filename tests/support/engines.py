"""Engines on loopback that answer from a script: one that speaks vLLM's protocol, one that speaks SGLang's.

    async with VllmServer([turn("hello")]) as server:
        await post(f"{server.url}/inference/v1/generate", {...})
    assert server.engine.violations == []

They are `doubles.Engine` behind real HTTP, and as strict: what vLLM 0.32 refuses is a 400, what it would ignore is a
violation. A server is also its own router (GET /workers lists it).
"""

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from doubles import Engine, HTTPRefused


def turn(text: str, finish: str = "stop", **more: Any) -> dict[str, Any]:
    """One generation of a script: `text` in one token a byte, with falling log-probabilities."""
    tokens = list(text.encode("utf-8"))
    return {
        "tokens": tokens,
        "logprobs": [round(-0.5 - 0.01 * i, 4) for i in range(len(tokens))],
        "finish": finish,
        **more,
    }


@dataclass
class Faults:
    """What goes wrong. `statuses` are answered before the first success; a stream of `cut` bytes a write; an error chunk,
    or the connection's end, after so many chunks; `pace` seconds between chunks of two tokens."""

    statuses: list[int] = field(default_factory=list)
    cut: int | None = None
    error_after: int | None = None
    drop_after: int | None = None
    pace: float = 0.0


class _Server:
    """What both protocols share: a port, the script, requests in flight, faults."""

    def __init__(self, script: list[dict[str, Any]], faults: Faults | None = None, tokens_per_chunk: int = 2) -> None:
        self.engine = Engine(script)
        self.faults = faults or Faults()
        self.tokens_per_chunk = tokens_per_chunk
        self.requests: list[dict[str, Any]] = []
        self.disconnects = 0
        self._running: dict[asyncio.Event, str | None] = {}

    async def __aenter__(self):
        app = web.Application(client_max_size=2**26)
        app.router.add_route("*", "/{path:.*}", self._handle)
        # Without it a handler would not notice that its client has gone.
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.port = site._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.engine.workers = [self.url]
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self._runner.cleanup()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        if self.faults.statuses:
            return web.json_response({"error": {"message": "busy"}}, status=self.faults.statuses.pop(0))
        if request.path == "/workers":
            return web.json_response({"workers": [{"url": url, "is_healthy": True} for url in self.engine.workers]})
        if request.path != self.route:
            return await self._control(request)
        payload = await request.json()
        self.requests.append(payload)
        try:
            turn = self._take(payload, dict(request.headers))
        except HTTPRefused as refused:
            return web.json_response({"error": {"message": str(refused), "code": 400}}, status=400)
        stopped = asyncio.Event()
        self._running[stopped] = payload.get(self.id_key)
        try:
            if payload.get("stream"):
                return await self._stream(request, payload, turn, stopped)
            return web.json_response(self._answer(await self._generated(turn, stopped), payload))
        except (asyncio.CancelledError, ConnectionResetError):
            self.disconnects += 1
            raise
        finally:
            del self._running[stopped]

    async def _generated(self, turn: dict[str, Any], stopped: asyncio.Event) -> dict[str, Any]:
        """The whole turn, or what there was of it when it was stopped."""
        done = 0
        while done < len(turn["tokens"]) and not await self._stopped_within_pace(stopped):
            done += self.tokens_per_chunk
        return turn if not stopped.is_set() else aborted(turn, done)

    async def _stopped_within_pace(self, stopped: asyncio.Event) -> bool:
        if self.faults.pace:
            try:
                await asyncio.wait_for(stopped.wait(), self.faults.pace)
            except TimeoutError:
                return False
        return stopped.is_set()

    async def _stream(
        self, request: web.Request, payload: dict[str, Any], turn: dict[str, Any], stopped: asyncio.Event
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        step = self.tokens_per_chunk
        ends = list(range(step, len(turn["tokens"]) + step, step)) or [0]
        for count, end in enumerate(ends):
            if self.faults.error_after == count:
                await self._write(response, {"error": {"message": "engine failed", "code": 500}})
                break
            if self.faults.drop_after == count:
                request.transport.abort()
                return response
            if await self._stopped_within_pace(stopped):
                turn = aborted(turn, end - step)
                await self._write(response, self._chunk(turn, payload, len(turn["tokens"]), end - step, True))
                await self._write_usage(response, payload, turn)
                break
            await self._write(response, self._chunk(turn, payload, end, end - step, end == ends[-1]))
        else:
            await self._write_usage(response, payload, turn)
        await self._send(response, b"data: [DONE]\n\n")
        return response

    async def _write(self, response: web.StreamResponse, chunk: dict[str, Any]) -> None:
        await self._send(response, b"data: " + json.dumps(chunk, ensure_ascii=False).encode() + b"\n\n")

    async def _send(self, response: web.StreamResponse, data: bytes) -> None:
        size = self.faults.cut or len(data)
        for start in range(0, len(data), size):
            await response.write(data[start : start + size])
            if self.faults.cut:
                await asyncio.sleep(0)

    def stop(self, name: str | None = None) -> int:
        """Abort the request called `name`, or every one; how many."""
        hit = [event for event, known in self._running.items() if name is None or known == name]
        for event in hit:
            event.set()
        return len(hit)


class VllmServer(_Server):
    """vLLM 0.32's generate, health and development routes."""

    route = "/inference/v1/generate"
    id_key = "request_id"

    def _take(self, payload: dict[str, Any], headers: dict[str, str]) -> dict[str, Any]:
        return self.engine.vllm_turn(payload, headers)

    def _answer(self, turn: dict[str, Any], payload: dict[str, Any]) -> dict[str, Any]:
        return self.engine.vllm_answer(turn, payload)

    def _chunk(self, turn: dict[str, Any], payload: dict[str, Any], end: int, start: int, last: bool) -> dict[str, Any]:
        tokens, logprobs = turn["tokens"][start:end], turn["logprobs"][start:end]
        choice = self.engine.vllm_choice(turn, payload, tokens, logprobs, turn["finish"] if last else None, last)
        if "text" in choice:
            choice["text"] = complete(turn["tokens"][:end])[len(complete(turn["tokens"][:start])) :]
        return {"request_id": "generate-tokens-r", "usage": None, "choices": [choice]}

    async def _write_usage(self, response: web.StreamResponse, payload: dict[str, Any], turn: dict[str, Any]) -> None:
        if (payload.get("stream_options") or {}).get("include_usage"):
            usage = self.engine.vllm_answer(turn, payload)["usage"]
            await self._write(response, {"request_id": "generate-tokens-r", "choices": [], "usage": usage})

    async def _control(self, request: web.Request) -> web.Response:
        body = await request.json() if request.can_read_body else {}
        try:
            answer = self.engine.vllm(f"{self.url}{request.path_qs}", body)
        except HTTPRefused as refused:
            return web.json_response({"detail": str(refused)}, status=404)
        if request.path == "/abort_requests":
            ids = body.get("request_ids")
            hits = [self.stop(name.removeprefix("generate-tokens-")) for name in ids] if ids else [self.stop()]
            answer = {"status": "aborted", "aborted": sum(hits)}
        return web.json_response(answer)


class SglangServer(_Server):
    """SGLang's generate and control routes; streams are cumulative."""

    route = "/generate"
    id_key = "rid"

    def _take(self, payload: dict[str, Any], headers: dict[str, str]) -> dict[str, Any]:
        return self.engine.sglang_turn(payload, headers)

    def _answer(self, turn: dict[str, Any], payload: dict[str, Any]) -> dict[str, Any]:
        return self.engine.sglang_answer(turn, payload, len(turn["tokens"]), turn["finish"])

    def _chunk(self, turn: dict[str, Any], payload: dict[str, Any], end: int, start: int, last: bool) -> dict[str, Any]:
        return self.engine.sglang_answer(turn, payload, end, turn["finish"] if last else None)

    async def _write_usage(self, response: web.StreamResponse, payload: dict[str, Any], turn: dict[str, Any]) -> None:
        return None

    async def _control(self, request: web.Request) -> web.Response:
        body = await request.json() if request.can_read_body else {}
        self.engine.sglang(f"{self.url}{request.path_qs}", body)
        if request.path == "/abort_request":
            self.stop(None if body.get("abort_all") else body.get("rid"))
        return web.Response()


def aborted(turn: dict[str, Any], done: int) -> dict[str, Any]:
    """What there is of a turn when it is cut short after `done` tokens."""
    return {**turn, "tokens": turn["tokens"][:done], "logprobs": turn["logprobs"][:done], "finish": "abort"}


def complete(tokens: list[int]) -> str:
    """The text of the characters that are whole."""
    return bytes(token for token in tokens if token < 256).decode("utf-8", errors="ignore")
