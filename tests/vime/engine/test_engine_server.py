"""A server's process: how it starts, what is said when it does not, and that nothing of it is left."""

import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from engine_world import config_of, eventually, runs, use_fake_vllm

from vime.backends.vllm_utils.engine_errors import EngineDied, EngineNotHealthy, PortTaken
from vime.backends.vllm_utils.launch import engine_launch
from vime.backends.vllm_utils.process import ServerProcess, group_members
from vime.backends.vllm_utils.server import EngineServer
from vime.utils.network import find_available_port


@pytest.fixture
def make(tmp_path, monkeypatch):
    """Servers of the fake vLLM, ended after the test."""
    made = []

    def server(faults=""):
        use_fake_vllm(monkeypatch, faults)
        launch = engine_launch(config_of(tmp_path), port=find_available_port(15_000))
        made.append(EngineServer(launch, tmp_path / "logs" / "engine_0.log"))
        return made[-1]

    yield server
    for one in made:
        one.stop(grace=0.2)


def test_started_healthy_stopped(make):
    server = make()
    server.start()
    server.wait_healthy(20)
    assert server.alive and server.healthy(1.0)
    server.stop()
    assert not server.alive and not runs(server.pid) and not server.healthy(0.2)


def test_progress_is_told_in_the_servers_own_words(make):
    server, told = make("slow=2.3"), []
    server.start()
    took = server.wait_healthy(20, lambda seconds, doing: told.append((seconds, doing)))
    assert took >= 2.3 and len(told) >= 2
    assert 0.9 < told[0][0] < told[1][0] and any(doing.startswith("serving ") for _, doing in told)


def test_a_crash_at_the_start_tells_its_cause(make):
    server = make("crash=no-memory")
    server.start()
    with pytest.raises(EngineDied) as died:
        server.wait_healthy(20)
    assert died.value.cause == "ValueError: no-memory" and died.value.exit_code == 1
    assert "See root cause above" in died.value.tail and str(died.value.log) in str(died.value)
    again = pickle.loads(pickle.dumps(died.value))
    assert str(again) == str(died.value) and again.tail == died.value.tail


def ended(said, log):
    """A process that said these lines, and is over."""
    process = ServerProcess(["printf", "%s\\n", *said], dict(os.environ), log)
    process.start()
    assert eventually(lambda: not process.alive)
    return process


def test_the_cause_is_whole_and_what_every_exit_says_is_left_out(tmp_path):
    said = [
        "(APIServer pid=1) INFO 11-30 01:02:03 [x.py:1] starting",
        "pydantic_core._pydantic_core.ValidationError: 1 validation error for ModelConfig",
        "  Value error, User-specified max_model_len (9) is greater than 8 [type=value_error]",
        "RuntimeError: a later one",
        "nanobind: leaked 4 instances!",
        ' - leaked instance 0x7 of type "triton"',
        " - ... skipped remainder",
    ]
    process = ended(said, tmp_path / "log")
    assert process.cause().startswith("pydantic_core._pydantic_core.ValidationError: 1 validation error")
    assert "max_model_len (9)" in process.cause() and "a later one" not in process.cause()
    assert process.last_line() == "RuntimeError: a later one" and "nanobind" not in process.tail()
    process.stop()


def test_what_it_does_is_not_told_by_a_warnings_line_of_source(tmp_path):
    said = [
        "(EngineCore pid=2) INFO 11-30 01:02:03 [core.py:1]  loading weights",
        "/v/dispatcher.py:139: FutureWarning: `torch.distributed.reduce_op` is deprecated",
        '  wrapper = lookup(vars(value).get("kernel"))',
        "[W1130 09:17:39.269973249 utils.cpp:68] Warning: NUMA binding",
    ]
    process = ended(said, tmp_path / "log")
    assert process.last_line() == "loading weights"
    process.stop()


def test_a_crash_later_is_seen(make):
    server = make("crash_after=0.2")
    server.start()
    server.wait_healthy(20)
    assert eventually(lambda: not server.alive)
    with pytest.raises(EngineDied, match="ended with status 7"):
        server.check()


def test_never_healthy(make):
    server = make("silent")
    server.start()
    with pytest.raises(EngineNotHealthy, match="not healthy after 1 s"):
        server.wait_healthy(1.0)
    assert server.alive


def test_a_killed_server_says_by_what(make):
    server = make()
    server.start()
    server.wait_healthy(20)
    os.kill(server.pid, signal.SIGKILL)
    assert eventually(lambda: not server.alive)
    with pytest.raises(EngineDied, match="was killed by SIGKILL"):
        server.check()


def test_a_taken_port_is_seen_before_the_start(make):
    server = make()
    with (
        socket.create_server(("127.0.0.1", server.launch.port)),
        pytest.raises(PortTaken, match=str(server.launch.port)),
    ):
        server.start()
    assert server.pid is None


def test_a_port_taken_during_the_start(make):
    server = make("slow=0.5")
    server.start()
    with socket.create_server(("127.0.0.1", server.launch.port)), pytest.raises(PortTaken):
        server.wait_healthy(20)


def test_what_ignores_sigterm_is_killed_with_its_children(make):
    server = make("stubborn child")
    server.start()
    server.wait_healthy(20)
    members = group_members(server.pid)
    assert len(members) == 2
    server.stop(grace=0.3)
    assert not any(map(runs, members)) and group_members(server.pid) == []


def test_children_of_a_crashed_server_end_with_stop(make):
    server = make("child")
    server.start()
    server.wait_healthy(20)
    child = next(pid for pid in group_members(server.pid) if pid != server.pid)
    os.kill(server.pid, signal.SIGKILL)
    assert eventually(lambda: not server.alive) and runs(child)
    server.stop()
    assert not runs(child)


def test_a_new_start_ends_what_is_left_of_the_old_one(make):
    server = make("child")
    server.start()
    server.wait_healthy(20)
    members = group_members(server.pid)
    os.kill(server.pid, signal.SIGKILL)
    assert eventually(lambda: not server.alive)
    server.start()
    server.wait_healthy(20)
    assert not any(map(runs, members)) and len(group_members(server.pid)) == 2


def test_it_may_start_again_and_shows_its_new_log_only(make):
    server = make("crash=first")
    server.start()
    with pytest.raises(EngineDied):
        server.wait_healthy(20)
    server._process.env["FAKE_VLLM"] = ""
    server.start()
    server.wait_healthy(20)
    assert "first" not in server.tail(100) and "serving" in server.tail(100)
    assert "first" in Path(server._process.log).read_text()


def test_a_proxy_of_the_system_is_not_asked(make, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    server = make()
    server.start()
    server.wait_healthy(20)


OWNER = """
import sys, threading, time
from pathlib import Path
from vime.backends.vllm_utils.process import ServerProcess
process = ServerProcess(["bash", "-c", "sleep 1000 & echo child $!; exec sleep 1001"], {"PATH": "/usr/bin:/bin"}, Path(sys.argv[1]))
thread = threading.Thread(target=process.start)
thread.start(); thread.join()
print(process.pid, flush=True)
time.sleep(1000)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_outlives_a_killed_owner(tmp_path, how):
    log = tmp_path / "log"
    owner = subprocess.Popen([sys.executable, "-c", OWNER, str(log)], stdout=subprocess.PIPE, text=True)
    group = int(owner.stdout.readline())
    assert eventually(lambda: len(group_members(group)) == 2)
    members = group_members(group)
    owner.send_signal(how)
    owner.wait()
    assert eventually(lambda: not any(map(runs, members))), members


def test_the_thread_that_started_it_may_end(tmp_path):
    process = ServerProcess(["sleep", "1000"], dict(os.environ), tmp_path / "log")
    thread = threading.Thread(target=process.start)
    thread.start()
    thread.join()
    assert not eventually(lambda: not process.alive, 0.3)
    process.stop()
    assert not runs(process.pid)
