"""The order of the loop, and how it stops."""

import signal

import pytest
from scripted_run import Notes, Scripted

from vime.errors import Interrupted
from vime.train.clock import Clock
from vime.train.loop import Schedule, loop
from vime.train.rollouts import InTurn
from vime.train.stop import StopRequest, stop_on_signals


def _schedule(**changes: object) -> Schedule:
    values = {"first": 0, "total": 3, "per_epoch": None, "eval_interval": 2, "save_interval": 2, "eval_before": True}
    return Schedule(**(values | changes))  # type: ignore[arg-type]


def _calls(stop_in: str = "", saves: bool = True, **schedule: object) -> tuple[list[str], Notes, bool]:
    stop, notes = StopRequest(), Notes()
    run = Scripted(stop, stop_in)
    try:
        loop(run, InTurn(run), _schedule(**schedule), saves, notes, stop)  # type: ignore[arg-type]
    except Interrupted:
        return run.calls, notes, True
    return run.calls, notes, False


def test_the_weights_are_there_before_anything_is_generated() -> None:
    calls, _, _ = _calls()
    assert calls[:3] == ["sync", "eval 0", "generate 0"]


def test_a_step_saves_before_it_syncs_and_evaluates_after() -> None:
    calls, _, _ = _calls()
    assert calls[calls.index("generate 1") :][:5] == ["generate 1", "train 1", "save 1", "sync", "eval 2"]


def test_the_last_rollout_is_saved_and_evaluated() -> None:
    calls, notes, _ = _calls(total=4, eval_interval=3, save_interval=3)
    assert calls[-3:] == ["save 3", "sync", "eval 4"]
    assert [step for key, step, _ in notes.rows if key == "eval/step"] == [0, 3, 4]


def test_the_engines_get_the_weights_as_often_as_asked_and_before_an_evaluation() -> None:
    calls, _, _ = _calls(total=5, eval_interval=3, saves=False, sync_interval=2)
    after = [calls[place - 1] for place, call in enumerate(calls) if call == "sync" and place]
    assert after == ["train 1", "train 2", "train 3", "train 4"]


def test_a_stop_in_generation_saves_what_was_trained() -> None:
    calls, _, stopped = _calls("generate 2", save_interval=100)
    assert stopped and calls[-2:] == ["generate 2", "save 1"]


def test_a_stop_in_training_finishes_the_step() -> None:
    calls, notes, stopped = _calls("train 0", save_interval=100, eval_interval=None)
    assert stopped and calls[-3:] == ["train 0", "sync", "save 0"]
    assert [step for key, step, _ in notes.rows if key == "rollout/step"] == [0]


def test_a_stop_in_an_evaluation_saves_the_rollout_that_was_trained_before_it() -> None:
    calls, notes, stopped = _calls("eval 2", save_interval=100)
    assert stopped and calls[-2:] == ["eval 2", "save 1"]
    assert [step for key, step, _ in notes.rows if key == "rollout/step"] == [0, 1]


def test_a_stop_does_not_write_a_checkpoint_a_second_time() -> None:
    calls, _, stopped = _calls("eval 2", save_interval=1)
    assert stopped and calls.count("save 1") == 1 and calls[-1] == "eval 2"


def test_a_stop_right_after_a_resume_leaves_the_checkpoint_alone() -> None:
    calls, _, stopped = _calls("generate 2", first=2, eval_before=False)
    assert stopped and calls == ["sync", "generate 2"]


def test_the_last_rollout_is_saved_where_no_interval_is_set() -> None:
    calls, _, _ = _calls(save_interval=None)
    assert [call for call in calls if call.startswith("save")] == ["save 2"]


@pytest.mark.parametrize("saves", [False, True])
def test_a_stop_before_the_first_step_has_nothing_to_save(saves: bool) -> None:
    calls, _, stopped = _calls("generate 0", saves=saves)
    assert stopped and not [call for call in calls if call.startswith("save")]


def test_a_run_that_was_resumed_begins_where_it_was() -> None:
    calls, _, _ = _calls(first=2, eval_before=False)
    assert calls == ["sync", "generate 2", "train 2", "save 2", "sync", "eval 3"]


def test_the_parts_of_a_step_add_up() -> None:
    ticks = iter([0.0, 1.0, 4.0, 5.0, 6.0, 10.0])
    clock = Clock(lambda: next(ticks))
    with clock.part("perf/rollout_time"):
        pass
    with clock.part("perf/train_time"):
        pass
    assert clock.times() == {"perf/rollout_time": 3.0, "perf/train_time": 1.0, "perf/step_time": 10.0}


def test_the_second_signal_interrupts_at_once() -> None:
    with stop_on_signals() as stop:
        signal.raise_signal(signal.SIGTERM)
        assert stop.asked and stop.exit_code == 143
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_a_wait_is_woken_also_when_the_stop_came_before_it() -> None:
    stop, woken = StopRequest(), []
    with stop.waiting(lambda: woken.append("wait")):
        stop.ask(signal.SIGINT)
    with stop.waiting(lambda: woken.append("later")):
        pass
    assert woken == ["wait", "later"]
