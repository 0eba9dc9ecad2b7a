"""Small helpers, ports, processes and the background loop."""

import asyncio
import multiprocessing
import socket
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from vime.utils import network
from vime.utils.async_utils import AsyncLoopThread, get_async_loop, run
from vime.utils.misc import (
    Box,
    SingletonMeta,
    chunk_named_params_by_size,
    exec_command,
    group_by,
    load_function,
    should_run_periodic_action,
)
from vime.utils.network import find_available_port, get_free_port, get_host_info, is_port_available, wrap_ipv6


def test_functions_are_loaded_by_path():
    assert load_function("os.path.join") is __import__("os").path.join
    for path, error in (("nodots", ValueError), ("os.path.nothing", ImportError), ("vime.no_such.f", ImportError)):
        with pytest.raises(error, match=path.rpartition(".")[0] or path):
            load_function(path)


def test_singletons():
    class One(metaclass=SingletonMeta):
        def __init__(self, value):
            self.value = value

    class Two(One):
        pass

    assert One(1) is One(2) and One(3).value == 1 and Two(4).value == 4
    One.clear_instances()
    assert One(5).value == 5


def test_commands_are_shown_and_run(capfd):
    assert exec_command("echo $((1+1))", capture_output=True) == "2\n"
    assert exec_command("echo out") is None
    assert capfd.readouterr().out.splitlines() == ["+ echo $((1+1))", "+ echo out", "out"]
    with pytest.raises(Exception, match="exit status 3"):
        exec_command("exit 3")


def test_periodic_actions():
    due = [i for i in range(10) if should_run_periodic_action(i, 3, num_rollout_per_epoch=5, num_rollout=10)]
    assert due == [2, 4, 5, 8, 9]
    assert not should_run_periodic_action(2, None, num_rollout=3)


def test_groups_and_chunks():
    assert group_by("abcab") == {"a": ["a", "a"], "b": ["b", "b"], "c": ["c"]}
    assert group_by(range(4), key=lambda n: n % 2) == {0: [0, 2], 1: [1, 3]}
    params = [(name, SimpleNamespace(nbytes=size)) for name, size in (("a", 3), ("b", 3), ("c", 9), ("d", 1))]
    assert [[name for name, _ in chunk] for chunk in chunk_named_params_by_size(params, 7)] == [
        ["a", "b"],
        ["c"],
        ["d"],
    ]
    assert Box([1]).inner == [1]


def test_ports():
    with socket.socket() as taken:
        taken.bind(("", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert not is_port_available(port)
        assert get_free_port(port) > port
    assert not is_port_available(70_000)
    assert is_port_available(find_available_port(20_000))
    assert is_port_available(find_available_port(59_990))


def test_this_host(monkeypatch):
    monkeypatch.delenv("VIME_HOST_IP", raising=False)
    name, address = get_host_info()
    assert name == socket.gethostname() and socket.inet_aton(address)
    monkeypatch.setenv("VIME_PREFER_IPV6", "1")
    assert ":" in get_host_info()[1]
    monkeypatch.setenv("VIME_HOST_IP", "10.1.2.3")
    assert get_host_info()[1] == "10.1.2.3"


def test_a_host_without_a_network_reaches_itself(monkeypatch):
    monkeypatch.delenv("VIME_HOST_IP", raising=False)
    monkeypatch.setattr(network, "_routed_address", lambda *_: [])
    monkeypatch.setattr(network, "_resolved_addresses", lambda *_: ["127.0.1.1"])
    assert get_host_info()[1] == "127.0.0.1"


@pytest.mark.parametrize(
    ("host", "wrapped"), [("::1", "[::1]"), ("[::1]", "[::1]"), ("10.0.0.1", "10.0.0.1"), ("node", "node")]
)
def test_hosts_in_urls(host, wrapped):
    assert wrap_ipv6(host) == wrapped


def _stubborn(ready):
    import signal

    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    ready.set()
    time.sleep(60)


def test_a_process_that_does_not_listen_is_killed():
    context = multiprocessing.get_context("spawn")
    ready = context.Event()
    process = context.Process(target=_stubborn, args=(ready,))
    process.start()
    assert ready.wait(20)
    network.terminate_process(process, timeout=0.2)
    assert not process.is_alive()
    network.terminate_process(process)


async def _double(value):
    await asyncio.sleep(0)
    if value < 0:
        raise ValueError("negative")
    return 2 * value


def test_work_runs_on_the_background_loop():
    assert run(_double(4)) == 8
    with pytest.raises(ValueError, match="negative"):
        run(_double(-1))
    assert get_async_loop() is get_async_loop()


def test_the_loop_does_not_wait_for_itself():
    async def outer():
        return run(_double(1))

    with pytest.raises(RuntimeError, match="own event loop"):
        run(outer())


def test_closing_the_loop_closes_what_it_holds():
    closed = []

    async def resource():
        try:
            yield 1
        finally:
            closed.append(True)

    async def open_it():
        opened = resource()
        await anext(opened)
        return opened

    thread = AsyncLoopThread()
    opened = thread.run(open_it())
    thread.close()
    thread.close()
    assert closed == [True] and thread.loop.is_closed() and opened is not None


def test_there_is_one_background_loop_whoever_asks_first():
    program = (
        "import sys, threading\nsys.setswitchinterval(1e-6)\nfrom vime.utils.async_utils import get_async_loop\n"
        "found, ready = [], threading.Barrier(8)\n"
        "def ask(): ready.wait(); found.append(get_async_loop())\n"
        "asking = [threading.Thread(target=ask) for _ in range(8)]\n"
        "[one.start() for one in asking]; [one.join() for one in asking]\nprint(len(set(map(id, found))))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "1"
