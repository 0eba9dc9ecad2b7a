"""Streams of vLLM written byte by byte, and `generate_streaming` reading them."""

import asyncio
import json

from aiohttp import web
from doubles import ByteTokenizer
from engines import Faults, VllmServer
from rollout_world import options

from vime.rollout import vllm_rollout
from vime.rollout.vllm_streaming_rollout import generate_streaming
from vime.utils.types import Sample

DROP = object()
"""Instead of bytes: the connection breaks here."""


def chunk(text="", finish=None, **more):
    """A chunk of one token a byte; the last one names the weight version of all."""
    ids = list(text.encode())
    content = [{"token_id": token, "logprob": -0.5} for token in ids]
    choice = {"index": 0, "token_ids": ids, "finish_reason": finish, "stop_reason": None, "weight_versions": None}
    return {"request_id": "generate-tokens-r", "choices": [{**choice, "logprobs": {"content": content}, **more}]}


def usage(tokens, **more):
    """The chunk of usage alone."""
    return {"request_id": "r", "choices": [], "usage": {"prompt_tokens": 2, "completion_tokens": tokens}, **more}


def event(value, end="\n"):
    """A chunk, or text, as an event."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"data: {text}{end}{end}".encode()


def wire(*chunks, done=True, end="\n"):
    """The events of chunks, with their end."""
    return b"".join(event(one, end) for one in (*chunks, *(["[DONE]"] if done else [])))


class WireServer:
    """Answers each request with the next of `answers`: bytes, or a list of writes (DROP ends the connection)."""

    def __init__(self, *answers, status=200):
        self.answers, self.status, self.requests = list(answers), status, []

    async def __aenter__(self):
        app = web.Application()
        app.router.add_post("/inference/v1/generate", self._handle)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.port = site._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_):
        await self._runner.cleanup()

    async def _handle(self, request):
        self.requests.append(await request.json())
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        response = web.StreamResponse(status=self.status, headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for piece in answer if isinstance(answer, list) else [answer]:
            if piece is DROP:
                request.transport.close()
                return response
            if isinstance(piece, float):
                await asyncio.sleep(piece)
                continue
            await response.write(piece)
            await asyncio.sleep(0)
        return response


def use_bytes(monkeypatch):
    """The tokenizer of bytes for the checkpoint's."""
    monkeypatch.setattr(vllm_rollout, "load_tokenizer", lambda *_, **__: ByteTokenizer())
    monkeypatch.setattr(vllm_rollout, "load_processor", lambda *_, **__: None)
    vllm_rollout.GenerateState.clear_instances()


def stream(server, sample=None, abort_after=None, params=None, generate=generate_streaming, **more):
    """What becomes of `sample` at `server`, an instance or the script of an engine; and the server."""
    if isinstance(server, list):
        server = VllmServer(server, Faults(**more.pop("faults", {})))
    sample = Sample(prompt="ab", index=7, group_index=3) if sample is None else sample

    async def go():
        vllm_rollout.GenerateState.clear_instances()
        async with server:
            args = options(vllm_router_port=server.port, vllm_dp_size=1, **more)
            state = vllm_rollout.GenerateState(args)
            if abort_after is not None:
                asyncio.get_running_loop().call_later(abort_after, setattr, state, "aborted", True)
            wanted = {"max_new_tokens": 16, "no_stop_trim": True, "skip_special_tokens": True, **(params or {})}
            return await asyncio.wait_for(generate(args, sample, wanted), 20), server

    return asyncio.run(go())
