"""The rollout manager ends what it generates when it is asked to, whenever that is."""

import asyncio
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("ray")
sys.path.insert(0, str(Path(__file__).parents[1] / "config"))

from config_world import enough, made

from vime.backends.vllm_utils.engine_errors import EngineDied, EngineHangs
from vime.errors import Interrupted
from vime.ray.rollout import RolloutManager
from vime.utils.async_utils import run

BEFORE = threading.Event()
"""Set when a rollout function has begun, and not yet generated."""


class NoPrompts:
    """A source that nothing is asked of."""

    def __init__(self, args: object) -> None: ...

    def __len__(self) -> int:
        return 8


def generates(args: object, rollout_id: int, data_source: object, evaluation: bool = False) -> None:
    BEFORE.set()
    run(asyncio.sleep(30))


def generates_late(args: object, rollout_id: int, data_source: object, evaluation: bool = False) -> None:
    BEFORE.set()
    time.sleep(0.5)
    run(asyncio.sleep(30))


def manager(folder: Path, function: str) -> RolloutManager:
    words = ["--rollout-function-path", f"{__name__}.{function}", "--data-source-path", f"{__name__}.NoPrompts"]
    made_of = made([*enough(folder), *words, "--run-dir", str(folder / "run")])
    one = RolloutManager(made_of, None)
    assert one.read_prompts() == 1
    return one


@pytest.mark.parametrize("function", ["generates", "generates_late"])
def test_a_stop_ends_what_is_generated_also_where_it_came_too_early_to_cancel(tmp_path: Path, function: str) -> None:
    BEFORE.clear()
    one = manager(tmp_path, function)
    threading.Thread(target=lambda: (BEFORE.wait(), one.interrupt()), daemon=True).start()
    began = time.monotonic()
    with pytest.raises(Interrupted):
        one.generate(0)
    assert time.monotonic() - began < 20


def test_only_what_runs_and_does_not_answer_is_killed(tmp_path: Path) -> None:
    """Of an engine or a router that is gone who waits for it is told anyway."""
    died = EngineDied("http://a", -9, "a.log", "", "")
    hangs = EngineHangs("http://b", 30.0, "timed out", "b.log")
    found, killed = {"engine 0": died, "engine 1": hangs, "router of actor": died}, []
    one = manager(tmp_path, "generates")
    one._servers = SimpleNamespace(failures=lambda timeout, core: found, kill=killed.extend)  # type: ignore[assignment]
    (told,) = one.end_hung()
    assert killed == ["engine 1"] and "engine 1: the engine at http://b runs and gave no answer" in told


def test_nothing_is_generated_after_a_stop(tmp_path: Path) -> None:
    BEFORE.clear()
    one = manager(tmp_path, "generates")
    one.interrupt()
    with pytest.raises(Interrupted):
        one.eval(0)
    assert not BEFORE.is_set()
