"""What the comparison of the loops reads out of a log, and the bound that it prints."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "examples/fully_async"))

import compare


def _log(*steps: tuple[float, float, float, float, float]) -> str:
    names = (
        *("perf/rollout_time", "perf/train_time", "perf/update_weights_time", "perf/step_time", "rollout/raw_reward"),
    )
    rows = [
        {"step_key": "rollout/step", "step": number, "metrics": dict(zip(names, step))}
        for number, step in enumerate(steps)
    ]
    rows.append({"step_key": "eval/step", "step": len(steps), "metrics": {"eval/rev3": 0.9}})
    return "\n".join(map(json.dumps, rows))


def test_the_bound_is_of_the_parts_as_they_were_measured_in_turn() -> None:
    turn = compare.result(_log((3.0, 1.0, 1.0, 5.5, 0.2), (5.0, 3.0, 1.0, 9.5, 0.8)))
    assert turn.parts == (4.0, 2.0, 1.0) and turn.seconds == 15.0
    assert turn.bound == pytest.approx(7 / 5)
    assert (turn.first_reward, turn.last_reward, turn.accuracy) == (0.2, 0.8, 0.9)


def test_where_training_takes_longest_it_is_what_is_waited_for() -> None:
    assert compare.result(_log((1.0, 3.0, 1.0, 5.0, 0.0))).bound == pytest.approx(5 / 4)


def test_the_table_has_each_way_and_its_gain() -> None:
    one = compare.result(_log((1.0, 1.0, 0.0, 2.0, 0.5)))
    other = compare.result(_log((1.0, 1.0, 0.0, 1.25, 0.5)))
    said = compare.in_words({"in turn": one, "fully async": other}, 1)
    assert "1.60" in said and "at most 2.00" in said
    assert compare.as_json({"in turn": one, "fully async": other})["fully async"]["gain"] == 1.6
