"""The log of a run: what is written is read, whatever a crash cut off and whatever a resume did again."""

import errno
import json
import math
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from run_world import learned, sample

from vime.observability.run_log import SAMPLES_KEPT, RunLog, run_folder
from vime.observability.run_read import NoRun, read_run


def points(folder: Path, name: str) -> list[tuple[int, float]]:
    one = read_run(folder).series[name]
    return list(zip(one.steps, one.values))


def test_what_is_logged_is_read(tmp_path):
    log = RunLog(tmp_path, clock=lambda: 7.0)
    log.log({"rollout/raw_reward": 0.5, "rollout/step": 0}, "rollout/step", 0)
    log.log({"perf/rollout_time": 2}, "rollout/step", 0)
    log.log({"rollout/raw_reward": 0.75}, "rollout/step", 1)
    log.event("start", engine="here")
    run = read_run(tmp_path)
    assert points(tmp_path, "rollout/raw_reward") == [(0, 0.5), (1, 0.75)]
    assert points(tmp_path, "perf/rollout_time") == [(0, 2.0)]
    assert "rollout/step" not in run.series
    assert run.events == ({"time": 7.0, "event": "start", "engine": "here"},) and run.times == (7.0, 7.0)


def test_what_is_not_finite_comes_back_and_no_number_is_refused(tmp_path):
    log = RunLog(tmp_path)
    log.log({"a": math.nan, "b": -math.inf, "c": True}, "train/step", 3)
    series = read_run(tmp_path).series
    assert math.isnan(series["a"].values[0]) and series["b"].values == (-math.inf,) and series["c"].values == (1.0,)
    assert series["a"].finite().steps == ()
    json.loads((tmp_path / "metrics.jsonl").read_text(), parse_constant=lambda name: pytest.fail(name))
    with pytest.raises(TypeError, match="metric d is no number"):
        log.log({"d": "much"}, "train/step", 4)


@settings(max_examples=40, deadline=None)
@given(cut=st.integers(1, 400))
def test_a_crash_in_mid_line_costs_that_line_and_no_other(tmp_path_factory, cut):
    folder = tmp_path_factory.mktemp("run")
    log = RunLog(folder, clock=lambda: 1.0)
    for step in range(6):
        log.log({"train/loss": float(step)}, "train/step", step)
    path = folder / "metrics.jsonl"
    whole = path.read_bytes()
    kept = whole[: max(len(whole) - cut, 0)]
    path.write_bytes(kept)
    survived = kept.count(b"\n") + (whole[len(kept) : len(kept) + 1] == b"\n")
    RunLog(folder).log({"train/loss": 60.0}, "train/step", 6)
    assert points(folder, "train/loss") == [*((step, float(step)) for step in range(survived)), (6, 60.0)]
    assert read_run(folder).damaged == (survived == kept.count(b"\n") and kept != b"" and not kept.endswith(b"\n"))


def test_what_a_resume_does_again_replaces_what_was_there(tmp_path):
    draw = __import__("random").Random(0)
    log = RunLog(tmp_path)
    for step in range(6):
        log.log({"rollout/raw_reward": 0.0, "rollout/old": 1.0}, "rollout/step", step)
        log.log({"train/loss": 0.0}, "train/step", 2 * step)
        log.samples(step, [sample("123", "321", 1.0, draw)])
        log.evaluation(step, {"rev3": [sample("123", "321", 1.0, draw)]})
    again = RunLog(tmp_path)
    again.resume({"rollout/step": 3, "train/step": 6, "eval/step": 4})
    again.log({"rollout/raw_reward": 1.0}, "rollout/step", 3)
    run = read_run(tmp_path)
    assert points(tmp_path, "rollout/raw_reward") == [(0, 0.0), (1, 0.0), (2, 0.0), (3, 1.0)]
    assert run.series["rollout/old"].steps == (0, 1, 2) and run.series["train/loss"].steps == (0, 2, 4)
    kept = {kind: [file.rollout_id for file in run.samples if file.kind == kind] for kind in ("rollout", "eval")}
    assert kept == {"rollout": [0, 1, 2], "eval": [0, 1, 2, 3]} and run.resumes == 1


def test_samples_are_few_and_replaced_whole(tmp_path):
    draw = __import__("random").Random(0)
    log = RunLog(tmp_path)
    log.samples(4, [sample("123", "321", 1.0, draw, number) for number in range(SAMPLES_KEPT + 5)])
    log.samples(4, [sample("123", "123", 0.0, draw)], pieces=lambda ids: [str(one) for one in ids])
    log.evaluation(4, {"rev3": [sample("123", "321", 1.0, draw)] * (SAMPLES_KEPT + 5)})
    rollout, evaluation = sorted(read_run(tmp_path).samples, key=lambda file: file.kind, reverse=True)
    (row,) = rollout.rows()
    assert row["response"] == "123" and row["pieces"][:2] == ["0", "1"] and len(row["log_probs"]) == 4
    assert len(list(evaluation.rows())) == SAMPLES_KEPT and {
        path.name for path in (tmp_path / "samples").iterdir()
    } == {
        "rollout_4.jsonl",
        "eval_4.jsonl",
    }


def test_samples_of_several_evaluation_sets_have_their_names_and_each_its_share(tmp_path):
    draw = __import__("random").Random(0)
    long, short = ([sample("123", "321", 1.0, draw)] * count for count in (SAMPLES_KEPT, 2))
    RunLog(tmp_path).evaluation(3, {"long": long, "short": short, "none": []})
    (file,) = read_run(tmp_path).samples
    names = [row["set"] for row in file.rows()]
    assert names[:5] == ["long", "short", "long", "short", "long"] and len(names) == SAMPLES_KEPT


def test_a_full_disk_is_told_and_costs_no_line_but_its_own(tmp_path, monkeypatch):
    log, real = RunLog(tmp_path), os.write
    log.log({"x": 0}, "train/step", 0)

    def full(handle, data):
        if len(data) < 20:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(handle, data[: len(data) - 9])

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match=r"No space left.*metrics.jsonl"):
        log.log({"x": 1}, "train/step", 1)
    monkeypatch.setattr(os, "write", real)
    log.log({"x": 2}, "train/step", 2)
    assert points(tmp_path, "x") == [(0, 0.0), (2, 2.0)] and read_run(tmp_path).damaged == 1


def test_two_writers_at_a_time_lose_nothing(tmp_path):
    first, second = RunLog(tmp_path), RunLog(tmp_path)
    for step in range(50):
        (first if step % 2 else second).log({"x": step}, "train/step", step)
    assert points(tmp_path, "x") == [(step, float(step)) for step in range(50)]


def test_lines_of_something_else_are_counted_and_left_out(tmp_path):
    learned(tmp_path, steps=2)
    with (tmp_path / "metrics.jsonl").open("ab") as file:
        file.write(b'\xff\xfe nonsense\n[1]\n{"step": "x", "metrics": {}}\n{"resume": 5}\n' + b"[" * 5000 + b"\n")
    run = read_run(tmp_path)
    assert run.damaged == 3 and run.series["rollout/raw_reward"].steps == (0, 1)


def test_a_folder_that_is_no_run_says_so(tmp_path):
    with pytest.raises(NoRun, match="--run-dir"):
        read_run(tmp_path / "nowhere")


def test_where_a_run_goes():
    assert run_folder("mine") == Path("mine")
    assert run_folder(None, datetime(2026, 11, 30, 1, 2, 3, tzinfo=UTC)) == Path("runs/20261130-010203")
