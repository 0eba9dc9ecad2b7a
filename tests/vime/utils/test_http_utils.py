"""Requests over real sockets: retries, errors, streams, event loops."""

import argparse
import asyncio
import logging
import time

import pytest
from aiohttp import web
from engines import Faults, SglangServer, VllmServer, turn

from vime.utils import http_utils
from vime.utils.http_client import HttpClient, HttpConnectionError, HttpError, HttpStatusError, RetryPolicy, public_url

QUICK = RetryPolicy(first=0.001, ceiling=0.002)
GENERATE = "/inference/v1/generate"


def body(**more):
    return {"token_ids": [97, 98], "sampling_params": {"max_tokens": 8, "logprobs": 1}, "output_mode": "text", **more}


def test_an_answer_is_decoded():
    async def go():
        async with VllmServer([turn("hello")]) as server:
            return await http_utils.post(server.url + GENERATE, body())

    assert asyncio.run(go())["choices"][0]["text"] == "hello"


def test_what_is_no_json_comes_as_text_and_no_payload_is_an_empty_object():
    async def go():
        async with SglangServer([turn("x")]) as server:
            return await http_utils.post(server.url + "/abort_request", None)

    assert asyncio.run(go()) == ""


def test_get_lists_the_workers():
    async def go():
        async with VllmServer([turn("x")]) as server:
            return server.url, await http_utils.get(server.url + "/workers")

    url, answer = asyncio.run(go())
    assert [worker["url"] for worker in answer["workers"]] == [url]


@pytest.mark.parametrize("statuses", [[503], [500, 502, 503], [429]])
def test_a_busy_server_is_asked_again(statuses):
    async def go():
        async with VllmServer([turn("hello")], Faults(statuses=list(statuses))) as server:
            return await HttpClient(retry=QUICK).post(server.url + GENERATE, body())

    assert asyncio.run(go())["choices"][0]["text"] == "hello"


@pytest.mark.parametrize("payload", [{}, body(token_ids=[]), body(sampling_params={"max_tokens": 0})])
def test_a_refused_request_is_not_sent_again(payload):
    async def go():
        async with VllmServer([turn("hello")]) as server:
            with pytest.raises(HttpStatusError) as caught:
                await HttpClient(retry=QUICK).post(server.url + GENERATE, payload)
            return caught.value, len(server.requests)

    error, attempts = asyncio.run(go())
    assert (error.status_code, attempts) == (400, 1)
    assert "required" in error.body or "max_tokens" in error.body


def test_attempts_are_counted_and_the_last_error_is_raised():
    async def go():
        async with VllmServer([turn("hello")], Faults(statuses=[503] * 9)) as server:
            with pytest.raises(HttpStatusError):
                await HttpClient(retry=QUICK).post(server.url + GENERATE, body(), max_retries=4)
            return len(server.faults.statuses)

    assert asyncio.run(go()) == 5


def test_nobody_listens():
    async def go():
        with pytest.raises(HttpConnectionError) as caught:
            await HttpClient(retry=QUICK).post("http://127.0.0.1:1/x", {}, max_retries=3)
        assert isinstance(caught.value, ConnectionError)

    asyncio.run(go())


def test_a_url_that_is_none_and_a_payload_that_cannot_be_sent_are_not_tried_again():
    async def go():
        started = time.monotonic()
        with pytest.raises(HttpError):
            await http_utils.post("no url", {})
        with pytest.raises(TypeError):
            await http_utils.post("http://127.0.0.1:1/x", {"a": object()})
        return time.monotonic() - started

    assert asyncio.run(go()) < 1


def test_neither_credentials_nor_headers_show(caplog):
    url = "http://user:hunter2@127.0.0.1:1/path?token=hunter2#hunter2"

    async def go():
        with caplog.at_level(logging.DEBUG), pytest.raises(HttpConnectionError) as caught:
            await HttpClient(retry=QUICK).post(url, {}, max_retries=2, headers={"X-Api-Key": "hunter2"})
        return caught.value

    error = asyncio.run(go())
    assert caplog.records
    assert "hunter2" not in caplog.text + str(error) + error.url
    assert public_url(url) == "http://127.0.0.1:1/path"


def test_the_environments_proxy_is_not_used(monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    test_an_answer_is_decoded()


async def read_stream(server, payload, take=None):
    seen = []
    url = server.url + GENERATE
    async with http_utils._http_client.stream("POST", url, json=payload, headers={"x-session-id": "s"}) as response:
        assert response.status_code == 200
        response.raise_for_status()
        async for line in response.aiter_lines():
            seen.append(line)
            if take is not None and len(seen) >= take:
                break
    return seen


@pytest.mark.parametrize("cut", [None, 1, 7])
def test_a_stream_comes_line_by_line(cut):
    async def go():
        async with VllmServer([turn("a€b")], Faults(cut=cut)) as server:
            return await read_stream(server, body(stream=True)), server.engine

    lines, engine = asyncio.run(go())
    assert lines[-2:] == ["data: [DONE]", ""]
    assert [line for line in lines if line] == lines[::2]
    assert "€" in "".join(lines)
    assert engine.calls[0]["session"] == "s"
    assert not engine.violations


def test_leaving_a_stream_early_tells_the_server():
    async def go():
        async with VllmServer([turn("x" * 200)], Faults(pace=0.01)) as server:
            lines = await read_stream(server, body(stream=True), take=3)
            await asyncio.sleep(0.1)
            return len(lines), server.disconnects

    assert asyncio.run(go()) == (3, 1)


def test_a_broken_stream_is_an_error_after_what_had_come():
    async def go():
        seen = []
        async with VllmServer([turn("x" * 20)], Faults(drop_after=3, pace=0.01)) as server:
            client = http_utils._http_client
            with pytest.raises(HttpConnectionError):
                async with client.stream("POST", server.url + GENERATE, json=body(stream=True)) as response:
                    async for line in response.aiter_lines():
                        seen.append(line)
        return seen

    assert len([line for line in asyncio.run(go()) if line]) == 3


def test_the_status_of_a_stream_says_why():
    async def go():
        stream = http_utils._http_client.stream
        async with (
            VllmServer([turn("x")]) as server,
            stream("POST", server.url + GENERATE, json={"stream": True}) as response,
        ):
            assert response.status_code == 400
            with pytest.raises(HttpStatusError, match="token_ids"):
                response.raise_for_status()

    asyncio.run(go())


def test_one_client_serves_several_event_loops_and_each_closes_its_pool(recwarn):
    client = HttpClient(retry=QUICK)

    async def go():
        async with VllmServer([turn("hello")]) as server:
            answers = await asyncio.gather(*(client.post(server.url + GENERATE, body()) for _ in range(8)))
            assert len(client._pools) == 1
            pool = next(iter(client._pools.values()))[0]
            return [answer["choices"][0]["text"] for answer in answers], pool

    first, second = asyncio.run(go()), asyncio.run(go())
    assert first[0] == second[0] == ["hello"] * 8
    assert first[1] is not second[1]
    assert first[1].closed and second[1].closed
    assert not [warning for warning in recwarn if "nclosed" in str(warning.message)]


def test_cancelling_a_request_cancels_it():
    async def go():
        async with VllmServer([turn("x" * 200)], Faults(pace=0.01)) as server:
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(http_utils.post(server.url + GENERATE, body()), 0.1)
            await asyncio.sleep(0.1)
            return server.disconnects

    assert asyncio.run(go()) == 1


def test_a_long_line_is_no_limit():
    async def go():
        app = web.Application()
        long = "x" * 3_000_000

        async def handler(request):
            return web.Response(text=f"data: {long}\n\n")

        app.router.add_post("/long", handler)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        url = f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}/long"
        async with http_utils._http_client.stream("POST", url, json={}) as response:
            lines = [line async for line in response.aiter_lines()]
        await runner.cleanup()
        return [len(line) for line in lines]

    assert asyncio.run(go()) == [3_000_006, 0]


@pytest.mark.parametrize(
    ("options", "engines"),
    [
        ({"rollout_num_gpus": None}, 0),
        ({"rollout_num_gpus": 0}, 0),
        ({"rollout_num_gpus": 8, "rollout_num_gpus_per_engine": 4}, 2),
        ({"rollout_num_gpus": 2, "rollout_num_gpus_per_engine": 8}, 1),
        ({"rollout_num_gpus": None, "rollout_num_engines": 3}, 3),
    ],
)
def test_the_client_is_bounded_by_what_the_engines_serve(monkeypatch, options, engines):
    monkeypatch.setattr(http_utils, "_http_client", HttpClient())
    args = argparse.Namespace(vllm_server_concurrency=16, **options)
    http_utils.init_http_client(args)
    assert http_utils.get_rollout_num_engines(args) == engines
    assert http_utils._http_client.max_connections == 16 * engines
    same = http_utils._http_client
    http_utils.init_http_client(args)
    assert http_utils._http_client is same


def test_waiting_times_grow_to_a_ceiling():
    policy = RetryPolicy(first=0.1, ceiling=1.0)
    assert all(0.05 <= policy.delay(0) <= 0.1 for _ in range(20))
    assert all(0.5 <= policy.delay(attempt) <= 1.0 for attempt in (5, 60, 5000))
