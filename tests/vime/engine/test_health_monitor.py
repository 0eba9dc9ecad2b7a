"""The thread that watches engines."""

import threading
import time
from concurrent.futures import Future
from types import SimpleNamespace

import pytest
from engine_world import eventually

from vime.utils.health_monitor import RolloutHealthMonitor


class Watched:
    """An engine that counts looks, and fails once `error` is set."""

    def __init__(self):
        self.looks, self.error = 0, None

    def submit(self, method, timeout):
        assert method == "health_generate"
        self.looks += 1
        answer = Future()
        answer.set_exception(self.error) if self.error else answer.set_result(True)
        return answer


@pytest.fixture
def world():
    engines = [Watched(), None, Watched()]
    found = []
    args = SimpleNamespace(
        rollout_health_check_interval=0.01, rollout_health_check_timeout=1.0, rollout_health_check_first_wait=0.0
    )
    monitor = RolloutHealthMonitor(SimpleNamespace(engines=engines), args, lambda n, error: found.append((n, error)))
    yield SimpleNamespace(engines=engines, found=found, monitor=monitor, args=args)
    monitor.stop()


def test_it_starts_paused_and_looks_when_resumed(world):
    assert world.monitor.start() and not world.monitor.is_checking_enabled()
    time.sleep(0.05)
    assert world.engines[0].looks == 0
    world.monitor.resume()
    assert eventually(lambda: world.engines[0].looks > 2 and world.engines[2].looks > 2)
    world.monitor.pause()
    time.sleep(0.05)
    before = world.engines[0].looks
    time.sleep(0.05)
    assert world.engines[0].looks == before


def test_a_dead_engine_is_told_once_until_it_is_resumed(world):
    world.monitor.start()
    world.monitor.resume()
    world.engines[2].error = error = RuntimeError("gone")
    assert eventually(lambda: world.found)
    time.sleep(0.05)
    assert world.found == [(2, error)] and world.monitor.failures == {2: error}
    world.monitor.pause()
    world.monitor.resume()
    assert eventually(lambda: len(world.found) == 2)


def test_the_first_wait_comes_before_the_first_look(world):
    world.args.rollout_health_check_first_wait = 5.0
    monitor = RolloutHealthMonitor(SimpleNamespace(engines=world.engines), world.args)
    monitor.start()
    monitor.resume()
    time.sleep(0.1)
    assert world.engines[0].looks == 0
    began = time.monotonic()
    monitor.stop()
    assert time.monotonic() - began < 1.0
    assert "RolloutHealthMonitor" not in {thread.name for thread in threading.enumerate()}


def test_nothing_to_watch():
    assert (
        RolloutHealthMonitor(
            SimpleNamespace(engines=[]),
            SimpleNamespace(
                rollout_health_check_interval=1, rollout_health_check_timeout=1, rollout_health_check_first_wait=0
            ),
        ).start()
        is False
    )
