"""The fully-async rollout in the real loop: it learns, keeps to its bound, lives through weight syncs, a stop and a resume."""

import json
import signal
from pathlib import Path

import pytest

for needed in ("vllm", "megatron.core", "ray"):
    pytest.importorskip(needed)

from whole_run import WholeRun

pytestmark = pytest.mark.slow

ROLLOUTS, GROUPS, SAMPLES = 16, 16, 8
FULLY_ASYNC = ("--rollout-function-path", "vime.rollout.fully_async_rollout.generate_rollout_fully_async")


def test_it_learns_beside_training_and_goes_on_where_it_was_stopped(prepared: Path, tmp_path: Path) -> None:
    ckpt = tmp_path / "ckpt"
    words = (*FULLY_ASYNC, "--num-rollout", str(ROLLOUTS), "--save", str(ckpt), "--weight-sync-probe", "4")
    run = WholeRun(tmp_path, prepared, *words)
    run.until_rollouts(5)
    run.process.send_signal(signal.SIGTERM)
    assert run.wait(60) == 128 + signal.SIGTERM, run.output
    assert "Traceback" not in run.output and run.left_behind() == []
    done = len(run.steps())
    state = _state(ckpt, done - 1)
    assert state["sample_group_index"] == sum(state["settled"].values()) + len(state["buffer"])

    again = WholeRun(tmp_path, prepared, *words, "--load", str(ckpt))
    assert again.wait() == 0, again.output
    assert "Traceback" not in again.output and "Task was destroyed" not in again.output and again.left_behind() == []
    steps = [step for _, step in sorted(again.steps().items())]
    assert len(steps) == ROLLOUTS
    for step in steps:
        assert step["rollout/fully_async/staleness_max"] <= 1
        places = ("trained", "dropped", "buffered", "in_flight")
        assert step["rollout/prompts_issued"] == sum(step[f"rollout/prompts_{place}"] for place in places)
        assert step["perf/weight_sync_logprob_abs_diff_max"] <= 1e-3
    assert max(step["rollout/mixed_weight_versions_ratio"] for step in steps) > 0, "no request outlived a sync"
    assert sum(step["rollout/fully_async/aborted_requeued"] for step in steps) == 0
    rewards = [step["rollout/raw_reward"] for step in steps]
    assert sum(rewards[-3:]) / 3 > sum(rewards[:3]) / 3 + 0.1

    numbers = [number for rollout in again.trained().values() for number in rollout]
    assert len(numbers) == len(set(numbers)) == ROLLOUTS * GROUPS * SAMPLES
    state = _state(ckpt, ROLLOUTS - 1)
    assert state["sample_group_index"] == ROLLOUTS * GROUPS + len(state["buffer"])


def _state(ckpt: Path, rollout_id: int) -> dict:
    return json.loads((ckpt / f"rollout/global_dataset_state_dict_{rollout_id}.json").read_text())
