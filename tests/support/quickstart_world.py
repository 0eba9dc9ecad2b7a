"""The quick start's training, as a command of its own, with a generate function of the test's choice."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

from vime.observability.run_read import Run, read_run

ROOT = Path(__file__).parents[2]
QUICKSTART = ROOT / "examples" / "quickstart_cpu"
NEEDED = ("vllm", "megatron", "ray", "torch")
INSTALLED = all(importlib.util.find_spec(name) for name in NEEDED)


def train(run: Path, generate: str, rollouts: int, *more: str, modules: Path | None = None) -> Run:
    """What a run of so many rollouts wrote down; evaluated before and after. `modules` is a folder to import from."""
    path = os.pathsep.join(str(folder) for folder in (ROOT, modules) if folder)
    env = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    subprocess.run([sys.executable, str(QUICKSTART / "prepare.py")], cwd=ROOT, env=env, check=True)
    words = ["--config", str(QUICKSTART / "config.yaml"), "--run-dir", str(run), "--num-rollout", str(rollouts)]
    words += ["--eval-interval", str(rollouts), "--lr-warmup-iters", "2", "--custom-generate-function-path", generate]
    command = [sys.executable, "-m", "vime.cli", "train", *words, *more]
    subprocess.run(command, cwd=ROOT, env=env, check=True, timeout=400)
    return read_run(run)


def check(run: Run, rollouts: int, current: int | None = None) -> None:
    """It learned from samples that engine and trainer agree on, token by token; nothing failed. From rollout `current` on
    some samples were begun with older weights, so that they need not agree."""
    rewards = run.series["rollout/raw_reward"].values
    assert len(rewards) == rollouts and sum(rewards[-3:]) > sum(rewards[:3])
    before, after = run.series["eval/rev3"].values
    assert before <= 0.15 and after >= before + 0.3
    assert max(run.series["train/train_rollout_logprob_abs_diff"].values[:current]) <= 1e-5
    assert max(run.series["train/train_rollout_logprob_abs_diff_max"].values[:current]) <= 1e-3
    assert max(run.series["rollout/aborted_ratio"].values) == max(run.series["rollout/failed_ratio"].values) == 0
    for file in run.samples:
        for row in file.rows():
            assert "vllm_generate_stream" in {event["name"] for event in row["trace"]["events"]}
            assert len(row["log_probs"]) == row["response_length"] > 0
