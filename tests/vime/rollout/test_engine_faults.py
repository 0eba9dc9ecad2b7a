"""Engines that die, refuse, or are not there, while a rollout runs."""

import asyncio
import json
import time

import pytest
from aiohttp import web
from engines import VllmServer, turn
from rollout_world import options, serving, tiny_model, write_prompts

from vime.rollout.data_source import RolloutDataSourceWithBuffer
from vime.rollout.engine_call import GenerationFailed
from vime.rollout.groups import leaves
from vime.rollout.vllm_rollout import generate_rollout
from vime.utils.http_client import HttpStatusError
from vime.utils.network import get_free_port
from vime.utils.types import Sample


@pytest.fixture(autouse=True)
def model(monkeypatch):
    tiny_model(monkeypatch)


@pytest.fixture
def world(tmp_path):
    def make(port, **more):
        args = options(vllm_router_port=port, prompt_data=write_prompts(tmp_path / "p.jsonl"), **more)
        return args, RolloutDataSourceWithBuffer(args)

    return make


class Dies(VllmServer):
    """Breaks the connection of its first requests, as an engine does that is killed in the middle."""

    deaths = 5

    async def _handle(self, request):
        if request.path == self.route and self.deaths > 0:
            self.deaths -= 1
            await request.read()
            request.transport.abort()
            return web.Response()
        return await super()._handle(request)


class SingleEngine(VllmServer):
    """An engine without a router in front of it: there is no /workers."""

    async def _handle(self, request):
        if request.path == "/workers":
            return web.json_response({"detail": "Not Found"}, status=404)
        return await super()._handle(request)


def test_a_request_whose_engine_dies_is_sent_again(world):
    with serving([turn("ok")], server=Dies) as server:
        args, source = world(server.port, rollout_request_attempts=8)
        output = generate_rollout(args, 0, source)
    assert {sample.response for sample in leaves(output.samples)} == {"ok"} and len(output.samples) == 4


class Fails(VllmServer):
    """Answers its first requests with status 200, and says in the answer that it failed."""

    failures = 3

    async def _handle(self, request):
        if request.path == self.route and self.failures > 0:
            self.failures -= 1
            return web.json_response({"choices": [{"index": 0, "token_ids": [], "finish_reason": "error"}]})
        return await super()._handle(request)


def test_an_answer_that_says_that_the_engine_failed_is_asked_for_again(world):
    with serving([turn("ok")], server=Fails) as server:
        args, source = world(server.port, rollout_request_attempts=8)
        output = generate_rollout(args, 0, source)
    assert {sample.status for sample in leaves(output.samples)} == {Sample.Status.COMPLETED}


def test_a_request_that_kills_engines_ends(world):
    class Poison(Dies):
        deaths = 10**6

    with serving([turn("ok")], server=Poison) as server:
        args, source = world(server.port, rollout_request_attempts=2)
        with pytest.raises(GenerationFailed, match=r"sample \d: no engine answered in 2 attempt\(s\)"):
            generate_rollout(args, 0, source)
    assert source.get_buffer_length() == 4
    source.check_balance()


def test_an_engine_that_comes_back_is_waited_for(world):
    port = get_free_port(21_000)

    async def later():
        await asyncio.sleep(0.4)
        double = VllmServer([turn("ok")])
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", double._handle)
        double.engine.workers = [f"http://127.0.0.1:{port}"]
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port).start()
        try:
            return await asyncio.to_thread(generate_rollout, args, 0, source)
        finally:
            await runner.cleanup()

    async def early():
        return await asyncio.gather(later(), asyncio.sleep(0))

    args, source = world(port)
    output, _ = asyncio.run(early())
    assert len(output.samples) == 4


def test_no_engine_at_all_is_said_in_time(world):
    args, source = world(get_free_port(22_000), rollout_engine_patience=0.5)
    began = time.monotonic()
    with pytest.raises(GenerationFailed, match="--rollout-engine-patience"):
        generate_rollout(args, 0, source)
    assert time.monotonic() - began < 5
    assert [group[0].group_index for group in source.buffer] == [0, 1, 2, 3]
    assert {sample.status for sample in leaves(source.buffer)} == {Sample.Status.PENDING}


def test_a_request_that_is_refused_is_not_sent_again(world):
    class Refuses(VllmServer):
        asked = 0

        async def _handle(self, request):
            if request.path != self.route:
                return await super()._handle(request)
            type(self).asked += 1
            await request.read()
            return web.json_response({"error": {"message": "too long"}}, status=400)

    with serving([turn("ok")], server=Refuses) as server:
        args, source = world(server.port, vllm_server_concurrency=1)
        with pytest.raises(HttpStatusError, match="too long"):
            generate_rollout(args, 0, source)
    assert Refuses.asked <= 10  # what is sent again is sent dozens of times; others were under way


def test_an_engine_without_a_router(world):
    with serving([turn("ok")], server=SingleEngine) as server:
        args, source = world(server.port, over_sampling_batch_size=6, vllm_server_concurrency=1)
        assert len(generate_rollout(args, 0, source).samples) == 4
        assert "/abort_requests" in server.engine.control


def test_a_proxy_of_the_system_is_not_used(world, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with serving([turn("ok")]) as server:
        args, source = world(server.port)
        assert len(generate_rollout(args, 0, source).samples) == 4


def test_a_prompt_near_the_end_of_the_context_asks_for_what_is_left(world):
    with serving([turn("ok")]) as server:
        args, source = world(server.port, rollout_max_context_len=10)
        generate_rollout(args, 0, source)
    assert {json.dumps(request["sampling_params"]["max_tokens"]) for request in server.requests} == {"8"}
