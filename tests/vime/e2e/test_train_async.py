"""The asynchronous loop as a user runs it: samples one version old, an exact resume, an engine that dies beside the trainer."""

import json
import os
import signal
from pathlib import Path

import pytest

for needed in ("vllm", "megatron.core", "ray"):
    pytest.importorskip(needed)

from whole_run import ENGINE, SEEDED, WholeRun, apart, losses

pytestmark = pytest.mark.slow

ROLLOUTS, GROUPS, SAMPLES = 6, 16, 8
WORDS = (*SEEDED, "--train-async", "--save-interval", "2")
FULLY = ("--train-async", "--rollout-function-path", "vime.rollout.fully_async_rollout.generate_rollout_fully_async")


def _trained_once(run: WholeRun, rollouts: int) -> bool:
    numbers = sorted(number for rollout in run.trained().values() for number in rollout)
    return numbers == list(range(rollouts * GROUPS * SAMPLES))


def _versions(run: WholeRun, rollout_id: int) -> set[str]:
    lines = (run.folder / f"dump/{rollout_id}.jsonl").read_text("utf-8").splitlines()
    return {version for line in lines for version in json.loads(line)["weight_versions"]}


def test_a_run_that_is_killed_trains_on_what_was_made_ahead_and_goes_on_as_if_nothing_had_been(
    prepared: Path, tmp_path: Path
) -> None:
    words = (*WORDS, "--num-rollout", str(ROLLOUTS))
    whole = WholeRun(tmp_path / "whole", prepared, *words, "--save", str(tmp_path / "whole/ckpt"))
    assert whole.wait() == 0, whole.output
    assert whole.left_behind() == []
    assert [_versions(whole, number) for number in range(ROLLOUTS)] == [{"1"}, *({str(n)} for n in range(1, ROLLOUTS))]
    for step in whole.steps().values():
        assert 0 <= step.get("perf/rollout_wait_time", 0) <= step["perf/step_time"]
    assert _trained_once(whole, ROLLOUTS)

    ckpt = tmp_path / "killed/ckpt"
    killed = WholeRun(tmp_path / "killed", prepared, *words, "--save", str(ckpt))
    killed.until_rollouts(4)
    killed.kill_all()
    assert (ckpt / "rollout/generated_ahead_1.json").is_file()
    again = WholeRun(tmp_path / "killed", prepared, *words, "--save", str(ckpt), "--load", str(ckpt))
    assert again.wait() == 0, again.output
    assert again.left_behind() == []
    assert apart(losses(again.steps()), losses(whole.steps()), range(ROLLOUTS)) <= 1e-4
    assert _trained_once(again, ROLLOUTS)


def test_the_fully_async_rollout_learns_beside_the_trainer_also_when_its_engine_dies(
    prepared: Path, tmp_path: Path
) -> None:
    run = WholeRun(tmp_path, prepared, *FULLY, "--use-tis", "--num-rollout", "16", "--save", str(tmp_path / "ckpt"))
    run.until_rollouts(4)
    for pid in run.find(ENGINE)[:1]:
        os.kill(pid, signal.SIGKILL)
    assert run.wait() == 0, run.output
    assert run.left_behind() == []
    assert "started again" in run.output
    steps = [step for _, step in sorted(run.steps().items())]
    assert len(steps) == 16
    rewards = [step["rollout/raw_reward"] for step in steps]
    assert sum(rewards[-3:]) / 3 > sum(rewards[:3]) / 3 + 0.1
    numbers = [number for rollout in run.trained().values() for number in rollout]
    assert len(numbers) == len(set(numbers)) == 16 * GROUPS * SAMPLES
