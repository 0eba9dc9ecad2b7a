"""Control calls: what is sent, what a refusal looks like, and engines made idle."""

import asyncio
import pickle
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vime.backends.vllm_utils import server_control
from vime.backends.vllm_utils.control import EngineControl
from vime.backends.vllm_utils.engine_errors import EngineCallFailed
from vime.backends.vllm_utils.seam import UnsupportedRequest
from vime.backends.vllm_utils.server_control import abort_servers_until_idle, num_requests_from_load
from vime.utils.network import get_free_port


@pytest.fixture
def engine():
    """A server that answers `answers[path]` (the last one again and again) and writes down what it was asked."""
    seen, answers = [], {}

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def answer(self):
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            seen.append((self.command, self.path, body))
            left = answers.get(self.path.partition("?")[0], [(200, "{}")])
            status, text = left.pop(0) if len(left) > 1 else left[0]
            self.send_response(status)
            self.end_headers()
            self.wfile.write(text.encode())

        do_GET = do_POST = answer

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield SimpleNamespace(url=f"http://127.0.0.1:{server.server_port}", seen=seen, answers=answers)
    server.shutdown()


@pytest.mark.parametrize(
    ("call", "sent"),
    [
        (lambda c: c.pause(), ("POST", "/pause", "")),
        (lambda c: c.pause("in_place"), ("POST", "/pause?mode=keep&clear_cache=false", "")),
        (lambda c: c.resume(), ("POST", "/resume", "")),
        (lambda c: c.abort(["a"]), ("POST", "/abort_requests", '{"request_ids": ["generate-tokens-a"]}')),
        (lambda c: c.start_weight_update(), ("POST", "/start_weight_update", "")),
        (
            lambda c: c.update_weights({"names": ["x"]}),
            ("POST", "/update_weights", '{"update_info": {"names": ["x"]}}'),
        ),
        (lambda c: c.finish_weight_update(3), ("POST", "/finish_weight_update", '{"weight_version": "3"}')),
        (lambda c: c.finish_weight_update(), ("POST", "/finish_weight_update", "{}")),
        (
            lambda c: c.init_weight_transfer_engine({"a": 1}),
            ("POST", "/init_weight_transfer_engine", '{"init_info": {"a": 1}}'),
        ),
        (lambda c: c.update_weight_version(3), ("POST", "/update_weight_version", '{"new_version": "3"}')),
        (lambda c: c.sleep(2), ("POST", "/sleep?level=2", "")),
        (lambda c: c.wake_up(["kv_cache", "cuda_graph"]), ("POST", "/wake_up?tags=kv_cache", "")),
        (lambda c: c.upstream_call("pause", {"mode": "retract"}), ("POST", "/pause?mode=keep", "{}")),
    ],
)
def test_what_is_sent(engine, call, sent):
    call(EngineControl(engine.url))
    assert engine.seen == [sent]


def test_what_is_read(engine):
    engine.answers |= {
        "/weight_info": [(200, '{"weight_version": "7"}')],
        "/load": [(200, '{"server_load": 5}')],
        "/is_paused": [(200, '{"is_paused": true}')],
        "/get_world_size": [(200, '{"world_size": 4}')],
        "/abort_requests": [(200, '{"status": "aborted", "aborted": 2}')],
        "/collective_rpc": [(200, '{"results": [null, 1]}')],
    }
    control = EngineControl(engine.url)
    assert (control.weight_version(), control.load(), control.is_paused(), control.abort_all()) == ("7", 5, True, 2)
    assert control.world_size() == 4
    assert control.collective_rpc("m", {"a": 1}, timeout=9.0) == [None, 1]
    assert engine.seen[-1][2] == '{"method": "m", "kwargs": {"a": 1}, "timeout": 9.0}'


def test_a_refusal_says_which_call_of_which_engine(engine):
    engine.answers["/start_weight_update"] = [(500, '{"error": "already active"}')]
    with pytest.raises(
        EngineCallFailed, match=r"/start_weight_update of the engine at .*HTTP 500.*already active"
    ) as failed:
        EngineControl(engine.url).start_weight_update()
    assert failed.value.status == 500 and str(pickle.loads(pickle.dumps(failed.value))) == str(failed.value)


def test_no_answer_is_a_failure_of_its_own():
    control = EngineControl(f"http://127.0.0.1:{get_free_port(20_000)}")
    with pytest.raises(EngineCallFailed, match="no answer: ConnectionRefusedError") as failed:
        control.resume()
    assert failed.value.status is None and not control.healthy()


def test_an_engine_that_hangs_is_not_waited_for_for_ever():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        control = EngineControl(f"http://127.0.0.1:{silent.getsockname()[1]}", timeout=0.2)
        with pytest.raises(EngineCallFailed, match="no answer"):
            control.resume()


def test_a_status_of_200_is_not_enough(engine):
    """vLLM answers 200 while requests hold blocks, and says so in the body."""
    engine.answers["/reset_prefix_cache"] = [(200, '{"success": false}'), (200, '{"success": true}')]
    EngineControl(engine.url).reset_prefix_cache()
    assert len(engine.seen) == 2
    engine.answers["/reset_prefix_cache"] = [(200, '{"success": false}')]
    with pytest.raises(EngineCallFailed, match="requests still hold blocks"):
        EngineControl(engine.url).reset_prefix_cache(timeout=0.1)


def test_what_the_engines_cannot_do_is_not_sent(engine):
    with pytest.raises(UnsupportedRequest):
        EngineControl(engine.url).pause("gently")
    assert engine.seen == []


def test_a_proxy_of_the_system_is_not_used(engine, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    EngineControl(engine.url).resume()
    assert engine.seen


def test_engines_are_told_until_they_are_idle(engine, monkeypatch):
    """A request may arrive just after the first abort."""
    monkeypatch.setattr(server_control, "ABORT_RETRY_INTERVAL_SECONDS", 0.01)
    engine.answers["/load"] = [(200, '{"server_load": 2}'), (200, '{"server_load": 1}'), (200, '{"server_load": 0}')]
    asyncio.run(asyncio.wait_for(abort_servers_until_idle([engine.url]), 20))
    assert [path for _, path, _ in engine.seen] == ["/abort_requests", "/load"] * 3
    assert engine.seen[0][2] == "{}"


def test_a_dead_engine_does_not_keep_the_others(engine):
    engine.answers["/load"] = [(200, '{"server_load": 0}')]
    dead = f"http://127.0.0.1:{get_free_port(20_000)}"
    asyncio.run(asyncio.wait_for(abort_servers_until_idle([dead, engine.url]), 20))
    assert ("POST", "/abort_requests", "{}") in engine.seen


counts = st.integers(0, 1000)
one_load = st.one_of(
    counts.map(lambda n: ({"server_load": n}, n)),
    st.tuples(counts, counts).map(lambda p: ({"num_running_reqs": p[0], "num_waiting_reqs": p[1]}, sum(p))),
    counts.map(lambda n: ({"num_total_reqs": n, "num_running_reqs": 1}, n)),
    st.just(("gibberish", 0)),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(one_load, max_size=4))
def test_loads_add_up_however_they_are_reported(loads):
    total = sum(n for _, n in loads)
    assert num_requests_from_load([load for load, _ in loads]) == total
    assert num_requests_from_load({"loads": [load for load, _ in loads]}) == total
