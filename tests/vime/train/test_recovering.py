"""What a run does about engines that die: it goes on with new ones, and gives up when they die again and again."""

import signal
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("ray")

from vime.errors import Interrupted, RankDied
from vime.ray.records import Engines
from vime.ray.rollout import EngineLost
from vime.train import run as module
from vime.train.run import RayRun
from vime.train.stop import StopRequest

LOST = EngineLost({"engine 0": RuntimeError("the server was killed")})


class Manager:
    """Generates when the list of what goes wrong is empty; each method is called as Ray's actors are."""

    def __init__(self, goes_wrong: list[Exception], dead: tuple[str, ...] = ("engine 0: killed",)) -> None:
        self._wrong, self._dead = goes_wrong, dead
        self.recovered, self.interrupted = 0, False

    def __getattr__(self, method: str) -> Any:
        return SimpleNamespace(remote=getattr(self, f"_{method}"))

    def _generate(self, number: int) -> Any:
        return self._wrong.pop(0) if self._wrong else number

    def _interrupt(self) -> None:
        self.interrupted = True

    def _synced(self) -> None:
        pass

    def _recover_updatable_engines(self) -> Any:
        self.recovered += bool(self._dead)
        return self._dead, Engines((), "")


def _run(manager: Manager, monkeypatch: pytest.MonkeyPatch) -> tuple[RayRun, list[str]]:
    def result(ref: Any, who: str) -> Any:
        if isinstance(ref, Exception):
            raise ref
        return ref

    monkeypatch.setattr(module, "result", result)
    told: list[str] = []
    config = SimpleNamespace(args=SimpleNamespace(debug_train_only=False, rollout_health_check_interval=1.0))
    return RayRun(config, None, manager, StopRequest(), lambda event, line: told.append(line)), told


def test_a_rollout_begins_anew_with_new_engines(monkeypatch):
    run, told = _run(Manager([LOST, LOST]), monkeypatch)
    assert run.generate(7) == 7
    assert told == ["engine 0: killed; started again"] * 2


def test_a_rollout_that_was_begun_is_begun_anew_when_it_is_waited_for(monkeypatch):
    manager = Manager([LOST, LOST])
    run, told = _run(manager, monkeypatch)
    wait = run.begin(7)
    assert manager.recovered == 0  # the trainer is at work
    assert wait() == 7
    assert told == ["engine 0: killed; started again"] * 2


def test_a_stop_ends_a_rollout_that_was_begun_when_it_is_waited_for(monkeypatch):
    manager = Manager([])
    run, _ = _run(manager, monkeypatch)
    wait = run.begin(7)
    run._stop.ask(signal.SIGTERM)
    assert not manager.interrupted
    wait()
    assert manager.interrupted


def test_engines_that_die_again_and_again_end_the_run_with_their_words(monkeypatch):
    manager = Manager([LOST] * 10)
    run, _ = _run(manager, monkeypatch)
    with pytest.raises(EngineLost, match="engine 0: the server was killed"):
        run.generate(7)
    assert manager.recovered == 3


@pytest.mark.parametrize("error", [RankDied("rank 0 ended"), Interrupted("stopped")])
def test_what_no_engine_can_help_with_is_raised(error, monkeypatch):
    manager = Manager([error])
    run, _ = _run(manager, monkeypatch)
    with pytest.raises(type(error)):
        run.generate(7)
    assert manager.recovered == 0


class Trainer:
    """Connects to the engines when the list of what goes wrong is empty."""

    def __init__(self, goes_wrong: list[Exception]) -> None:
        self._wrong, self.calls = goes_wrong, []

    def set_rollout_engines(self, urls: tuple[str, ...]) -> None:
        self.calls.append("connect")
        if self._wrong:
            raise self._wrong.pop(0)

    def update_weights(self, meanwhile: Any, every: float) -> dict[str, float]:
        self.calls.append("sync")
        return {}


def test_an_engine_that_dies_while_the_trainer_connects_to_another_is_started_again_too(monkeypatch):
    manager = Manager([LOST])
    run, _ = _run(manager, monkeypatch)
    run._trainer = trainer = Trainer([RuntimeError("engine 1 does not answer")])
    assert run.generate(7) == 7
    assert manager.recovered == 2 and trainer.calls == ["connect", "connect", "sync"]
    run.sync_weights()
    assert trainer.calls[3:] == ["sync"]


def test_what_fails_with_every_engine_alive_is_raised(monkeypatch):
    run, _ = _run(Manager([ValueError("a reward of None")], dead=()), monkeypatch)
    with pytest.raises(ValueError, match="a reward of None"):
        run.generate(7)
