"""Engines that belong to Ray's actors, with a vLLM that starts at once: what is left when an actor is killed, and who comes back."""

import os
import signal
from pathlib import Path

import pytest
from engine_world import FAKE_ROUTER, FAKE_VLLM, config_of, eventually, runs

from vime.backends.vllm_utils.control import EngineControl
from vime.backends.vllm_utils.engine_errors import EngineDied
from vime.backends.vllm_utils.process import group_members
from vime.ray.servers import start_servers

ray = pytest.importorskip("ray")
pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module", autouse=True)
def cluster():
    patch = pytest.MonkeyPatch()
    patch.setenv("PYTHONPATH", os.pathsep.join(map(str, [FAKE_VLLM, FAKE_ROUTER, ROOT])))
    patch.setenv("FAKE_VLLM", "busy=100")
    local = {"address": "local", "_node_ip_address": "127.0.0.1", "include_dashboard": False}
    ray.init(**local, num_cpus=4, object_store_memory=100 * 1024**2, logging_level="WARNING", log_to_driver=False)
    yield
    ray.shutdown()
    patch.undo()


@pytest.fixture
def servers(tmp_path):
    started = start_servers(config_of(tmp_path, "--rollout-num-gpus", "2"), logs=str(tmp_path / "logs"))
    yield started
    started.stop()


def of(engine, method):
    """What a method of an engine's actor returns."""
    return engine.submit(method).result(timeout=30)


def test_each_belongs_to_its_actor_and_goes_with_it(servers):
    assert servers.failures() == {} and len(servers.urls) == 2
    pid = of(servers.engines[0], "pid")
    members = group_members(pid)
    assert members and pid != of(servers.engines[1], "pid")
    ray.kill(servers.engines[0].actor)
    assert eventually(lambda: not any(map(runs, members)))
    again = servers.restart_dead(timeout=60)
    try:
        assert again.stale == (0,) and again.failures() == {} and EngineControl(again.urls[0]).is_paused()
        assert again.urls[1] == servers.urls[1]
    finally:
        again.stop()
    assert not any(EngineControl(url).healthy(0.5) for url in again.urls)


def test_an_error_of_an_actor_arrives_as_what_it_is(servers):
    os.kill(of(servers.engines[1], "pid"), signal.SIGKILL)
    assert eventually(lambda: servers.failures())
    with pytest.raises(EngineDied, match="killed by SIGKILL") as died:
        servers.check()
    assert died.value.exit_code == -9 and died.value.log.endswith("engine_1.log")
    again = servers.restart_dead(timeout=60)
    assert again.failures() == {} and again.urls == servers.urls


def test_its_health_is_known_while_it_is_busy(servers):
    """A call that waits (for blocks that stay in use, here) does not keep the others."""
    busy = servers.engines[0].submit("flush_cache")
    assert servers.engines[0].submit("health_generate").result(timeout=30) is True
    assert not busy.done()
    busy.result(timeout=30)
