"""GPU end to end: the fully-async rollout beside an asynchronous trainer, Qwen2.5-0.5B-Instruct on DAPO-Math-17k.

A row of e2e-test-short runs it as a script (`python tests/test_qwen2.5_0.5B_fully_async_short.py`), which fails where the
GPUs are missing; under pytest it is skipped there. It was written against the interfaces and was not run: there was no GPU.
"""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "support"))

from gpu_runs import DATA, check, fetch, missing, run

MODEL_NAME = "Qwen2.5-0.5B-Instruct"
NUM_GPUS = 4
ROLLOUTS, PROMPTS, SAMPLES, STALENESS = 3, 4, 4, 1


def train_words(model: Path, data: Path) -> list[str]:
    """The run's options."""
    ckpt_args = ["--hf-checkpoint", str(model)]
    rollout_args = [
        *("--rollout-function-path", "vime.rollout.fully_async_rollout.generate_rollout_fully_async"),
        *("--fully-async-max-staleness", str(STALENESS)),
        *("--prompt-data", str(data), "--input-key", "prompt", "--label-key", "label"),
        *("--apply-chat-template", "--rollout-shuffle", "--rm-type", "deepscaler"),
        *("--num-rollout", str(ROLLOUTS), "--rollout-batch-size", str(PROMPTS), "--n-samples-per-prompt", str(SAMPLES)),
        *("--rollout-max-response-len", "8192", "--rollout-temperature", "0.8"),
        *("--global-batch-size", str(PROMPTS * SAMPLES), "--balance-data"),
    ]
    perf_args = ["--use-dynamic-batch-size", "--max-tokens-per-gpu", "9216"]
    grpo_args = ["--advantage-estimator", "grpo", "--eps-clip", "0.2", "--eps-clip-high", "0.28", "--use-tis"]
    optimizer_args = ["--lr", "1e-6", "--lr-decay-style", "constant", "--weight-decay", "0.1", "--adam-beta2", "0.98"]
    vllm_args = ["--rollout-num-gpus-per-engine", "1", "--vllm-gpu-memory-utilization", "0.65"]
    place_args = ["--actor-num-nodes", "1", "--actor-num-gpus-per-node", "1", "--rollout-num-gpus", "3"]
    place_args += ["--num-gpus-per-node", str(NUM_GPUS)]
    groups = (ckpt_args, rollout_args, perf_args, grpo_args, optimizer_args, vllm_args, place_args, ["--ci-test"])
    return [word for group in groups for word in group]


def execute() -> None:
    """Train; every rollout comes, in time, with groups that are not too old."""
    steps = run(train_words(fetch(MODEL_NAME), DATA), NUM_GPUS, "train_async.py")
    check(steps, ROLLOUTS, PROMPTS)
    assert all(step["rollout/staleness_max"] <= STALENESS for step in steps)
    assert all(step["perf/rollout_wait_time"] <= step["perf/step_time"] for step in steps)


@pytest.mark.skipif(bool(why := missing(NUM_GPUS)), reason=why)
def test_fully_async_rollouts_are_trained_on() -> None:
    execute()


if __name__ == "__main__":
    if why:
        raise SystemExit(f"{Path(__file__).name}: {why}")
    execute()
