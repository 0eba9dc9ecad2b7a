"""The asynchronous loop: what runs beside what, how old the weights are, how it stops, and what it saves."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted_run import Notes, Scripted

from vime.errors import Interrupted
from vime.train.clock import Clock
from vime.train.loop import Schedule, loop
from vime.train.rollouts import OneAhead
from vime.train.stop import StopRequest

MANY = 100


def _run(stop_in: str = "", saves: bool = True, **changes: object) -> tuple[Scripted, Notes, bool]:
    values = {"first": 0, "total": 3, "per_epoch": None, "eval_interval": None, "save_interval": None}
    schedule = Schedule(**(values | {"eval_before": False} | changes))  # type: ignore[arg-type]
    stop, notes = StopRequest(), Notes()
    run = Scripted(stop, stop_in)
    try:
        loop(run, OneAhead(run, schedule.total), schedule, saves, notes, stop)
    except Interrupted:
        return run, notes, True
    return run, notes, False


def test_the_next_rollout_is_begun_before_training_and_awaited_before_the_sync() -> None:
    run, _, _ = _run(saves=False)
    assert run.calls == [
        *("sync", "begin 0", "wait 0"),
        *("begin 1", "train 0", "wait 1", "sync"),
        *("begin 2", "train 1", "wait 2", "sync"),
        *("train 2", "sync"),
    ]


def test_between_two_syncs_nothing_waits_but_for_the_rollout_that_is_trained_on() -> None:
    run, _, _ = _run(saves=False, sync_interval=2, total=4)
    assert run.calls == [
        *("sync", "begin 0", "wait 0"),
        *("begin 1", "train 0"),
        *("wait 1", "begin 2", "train 1", "wait 2", "sync"),
        *("begin 3", "train 2"),
        *("wait 3", "train 3", "sync"),
    ]


def test_nothing_is_generated_beside_a_checkpoint_or_an_evaluation() -> None:
    run, notes, _ = _run(eval_interval=2, save_interval=2, eval_before=True, sync_interval=MANY, total=4)
    assert run.calls[:3] == ["sync", "eval 0", "begin 0"]
    after = run.calls[run.calls.index("train 1") :]
    assert after[:5] == ["train 1", "wait 2", "save 1", "sync", "eval 2"]
    assert [step for key, step, _ in notes.rows if key == "eval/step"] == [0, 2, 4]


@settings(max_examples=60, deadline=None)
@given(
    sync=st.integers(1, 4),
    total=st.integers(1, 12),
    first=st.integers(0, 3),
    save=st.none() | st.integers(1, 4),
    evals=st.none() | st.integers(1, 4),
)
def test_every_rollout_is_trained_once_with_weights_of_at_most_one_sync_ago(sync, total, first, save, evals) -> None:
    first = min(first, total - 1)
    run, notes, _ = _run(first=first, total=total, sync_interval=sync, save_interval=save, eval_interval=evals)
    numbers = list(range(first, total))
    for what in ("begin", "wait", "train"):
        assert [call for call in run.calls if call.startswith(what)] == [f"{what} {number}" for number in numbers]
    assert set(run.behind.values()) <= {0, 1} and run.behind[first] == 0
    under_way = 0
    for call in run.calls:
        under_way += call.startswith("begin") - call.startswith("wait")
        assert under_way <= (0 if call.startswith(("save", "sync", "eval")) else 1)
    assert [step for key, step, _ in notes.rows if key == "rollout/step"] == numbers


def test_a_stop_while_the_first_rollout_is_made_leaves_nothing_to_save() -> None:
    run, _, stopped = _run("begin 0")
    assert stopped and run.calls == ["sync", "begin 0", "wait 0"]


def test_a_stop_while_trainer_and_engines_work_ends_the_generation_and_saves() -> None:
    run, notes, stopped = _run("train 1", total=9)
    assert stopped and run.calls[-4:] == ["train 1", "wait 2", "sync", "save 1"]
    assert [step for _, step, _ in notes.rows] == [0, 1]


def test_a_stop_between_syncs_ends_what_is_under_way_before_it_saves() -> None:
    run, _, stopped = _run("train 1", total=9, sync_interval=MANY)
    assert stopped and run.calls[-3:] == ["train 1", "wait 2", "save 1"]


def test_a_stop_does_not_write_a_checkpoint_a_second_time() -> None:
    run, _, stopped = _run("sync", total=9, save_interval=1)
    assert stopped and run.calls == ["sync"]
    run, _, stopped = _run("wait 2", total=9, save_interval=1)
    assert stopped and run.calls.count("save 1") == 1 and run.calls[-1] == "sync"


class Broken(Scripted):
    """The trainer fails while a rollout is under way."""

    def train(self, rollout_id: int, generated: object) -> dict[str, float]:
        raise ValueError("a rank is gone")


def test_what_fails_in_training_is_raised_at_once() -> None:
    stop = StopRequest()
    run = Broken(stop)
    schedule = Schedule(0, 3, None, None, None, eval_before=False)
    with pytest.raises(ValueError, match="a rank is gone"):
        loop(run, OneAhead(run, 3), schedule, True, Notes(), stop)
    assert run.calls[-1] == "begin 1"


def test_what_a_step_took_tells_generation_from_waiting_for_it() -> None:
    ticks = itertools.count()
    clock = Clock(lambda: float(next(ticks)))
    run = Scripted(StopRequest())
    rollouts = OneAhead(run, 2)
    rollouts.take(0, clock)
    rollouts.settle(clock)
    rollouts.take(1, clock)
    assert clock.times() == {"perf/rollout_wait_time": 2.0, "perf/rollout_time": 10.0, "perf/step_time": 5.0}
