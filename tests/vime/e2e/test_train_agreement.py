"""Engine and trainer compute the same, in every layout and by every way of the weights; where they do not, the run stops."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from whole_run import QUICKSTART, SEEDED, WholeRun, apart, losses

for name in ("vllm", "megatron.core", "ray"):
    pytest.importorskip(name)

pytestmark = pytest.mark.slow
SUPPORT = Path(__file__).parents[2] / "support"
ROLLOUTS = 4
PROBED = ("--weight-sync-probe", "4")
MEAN, MAX = 1e-5, 1e-3
"""Bounds of the difference of engine's and trainer's logprobs in float32, in nats."""


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory, prepared: Path) -> Mapping[int, Mapping[str, float]]:
    """The figures of a run with one rank."""
    return _figures(tmp_path_factory.mktemp("alone"), prepared)


def _run(folder: Path, prepared: Path, *words: str) -> WholeRun:
    length = ("--num-rollout", str(ROLLOUTS), *SEEDED, *words)
    return WholeRun(folder, prepared, *length, env={"PYTHONPATH": f"{QUICKSTART.parents[1]}{os.pathsep}{SUPPORT}"})


def _figures(folder: Path, prepared: Path, *words: str) -> Mapping[int, Mapping[str, float]]:
    run = _run(folder, prepared, *PROBED, *words)
    assert run.wait() == 0, run.output[-3000:]
    assert run.left_behind() == []
    steps = run.steps()
    assert sorted(steps) == list(range(ROLLOUTS))
    for figures in steps.values():
        assert figures["train/train_rollout_logprob_abs_diff"] <= MEAN
        assert figures["train/train_rollout_logprob_abs_diff_max"] <= MAX
        assert figures["perf/weight_sync_logprob_abs_diff_mean"] <= MEAN
        assert figures["perf/weight_sync_logprob_abs_diff_max"] <= MAX
    return steps


def _trained(run: WholeRun) -> list[int]:
    """Rollouts that went all the way, the sync included."""
    return sorted(number for number, figures in run.steps().items() if "train/loss" in figures)


@pytest.mark.parametrize("layout", [("--tensor-model-parallel-size", "2"), ()], ids=["tensor", "data"])
def test_two_ranks_have_the_losses_of_one(
    tmp_path: Path, prepared: Path, alone: Mapping[int, Mapping[str, float]], layout: tuple[str, ...]
) -> None:
    steps = _figures(tmp_path, prepared, "--actor-num-gpus-per-node", "2", *layout)
    assert apart(losses(steps), losses(alone), range(ROLLOUTS)) <= 1e-4
    rewards = [[figures["rollout/raw_reward"] for figures in one.values()] for one in (steps, alone)]
    assert rewards[0] == rewards[1], "not the same samples"


def test_a_tied_model_over_gloo(tmp_path: Path, tied: Path) -> None:
    _figures(tmp_path, tied)


def test_a_tied_model_over_a_folder(tmp_path: Path, tied: Path) -> None:
    folder = tmp_path / "weights"
    _figures(tmp_path, tied, "--update-weight-transport", "disk", "--update-weight-disk-dir", str(folder))


def test_a_sync_that_was_left_out_is_caught_by_the_probe(tmp_path: Path, prepared: Path) -> None:
    run = _run(tmp_path, prepared, *PROBED, "--custom-megatron-init-path", "left_out_sync.leave_out_the_third")
    assert run.wait() == 1
    assert "after a weight sync logprobs of engine and trainer are further apart" in run.output
    assert "Traceback" not in run.output
    assert _trained(run) == [0]
    assert run.left_behind() == []


def test_a_sync_that_was_left_out_is_caught_by_the_next_update(tmp_path: Path, prepared: Path) -> None:
    run = _run(tmp_path, prepared, "--custom-megatron-init-path", "left_out_sync.leave_out_the_third")
    assert run.wait() == 1
    assert "rollout 2: no sample is of weight version" in run.output and "No update was made" in run.output
    assert "Traceback" not in run.output
    assert _trained(run) == [0, 1]
    assert run.left_behind() == []
