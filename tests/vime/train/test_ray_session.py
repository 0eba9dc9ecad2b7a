"""Ray is there, or is said not to be at once; and a signal stays the run's."""

import signal
import socket
import time
from types import SimpleNamespace

import pytest

pytest.importorskip("ray")

import ray

from vime.errors import RunError
from vime.ray.session import ray_session

ARGS = SimpleNamespace(actor_num_nodes=1, actor_num_gpus_per_node=1, rollout_num_gpus=1, rollout_num_gpus_per_engine=1)
CONFIG = SimpleNamespace(args=ARGS, device=SimpleNamespace(is_cpu=True))


@pytest.mark.parametrize("scheme", ["", "ray://"])
def test_a_cluster_that_is_not_there_is_told_at_once(scheme, monkeypatch):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"{scheme}127.0.0.1:{free.getsockname()[1]}"
        monkeypatch.setenv("RAY_ADDRESS", address)
        began = time.monotonic()
        with pytest.raises(RunError, match="there is no Ray cluster") as told, ray_session(CONFIG):  # type: ignore[arg-type]
            pass
    assert address in str(told.value) and "unset RAY_ADDRESS" in str(told.value)
    assert time.monotonic() - began < 5


def test_rays_own_words_are_kept_where_it_does_not_start(monkeypatch):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)

    def init(**options: object) -> None:
        raise RuntimeError("the node timed out during startup\nand more")

    monkeypatch.setattr(ray, "init", init)
    with pytest.raises(RunError, match="Ray did not start: the node timed out"), ray_session(CONFIG):  # type: ignore[arg-type]
        pass


def test_rays_handler_of_sigterm_does_not_take_the_place_of_the_runs(monkeypatch):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr(ray, "init", lambda **options: signal.signal(signal.SIGTERM, signal.SIG_IGN))
    monkeypatch.setattr(ray, "shutdown", lambda: None)

    def own(number: int, frame: object) -> None:
        """Stands for the run's."""

    before = signal.signal(signal.SIGTERM, own)
    try:
        with ray_session(CONFIG):  # type: ignore[arg-type]
            assert signal.getsignal(signal.SIGTERM) is own
    finally:
        signal.signal(signal.SIGTERM, before)
