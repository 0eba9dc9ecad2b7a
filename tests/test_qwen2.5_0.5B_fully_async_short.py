"""GPU end to end: the fully-async rollout beside an asynchronous trainer, Qwen2.5-0.5B-Instruct on DAPO-Math-17k.

A row of e2e-test-short runs it as a script (`python tests/test_qwen2.5_0.5B_fully_async_short.py`), which fails where the
GPUs are missing; under pytest it is skipped there. It was written against the interfaces and was not run: there was no GPU.
"""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "support"))

from gpu_runs import DATA, check, fetch, learning_words, missing, run

MODEL_NAME = "Qwen2.5-0.5B-Instruct"
NUM_GPUS = 4
ROLLOUTS, PROMPTS, SAMPLES, STALENESS = 3, 4, 4, 1


def train_words(model: Path, data: Path) -> list[str]:
    """The run's options."""
    rollout_args = [
        *("--rollout-function-path", "vime.rollout.fully_async_rollout.generate_rollout_fully_async"),
        *("--fully-async-max-staleness", str(STALENESS), "--rollout-max-response-len", "8192", "--use-tis"),
    ]
    place_args = [
        *("--num-gpus-per-node", str(NUM_GPUS), "--actor-num-nodes", "1", "--actor-num-gpus-per-node", "1"),
        *("--rollout-num-gpus", "3", "--rollout-num-gpus-per-engine", "1", "--vllm-gpu-memory-utilization", "0.65"),
        *("--max-tokens-per-gpu", "9216"),
    ]
    return [*learning_words(model, data, ROLLOUTS, PROMPTS, SAMPLES), *rollout_args, *place_args]


def execute() -> None:
    """Train; every rollout comes, in time, with groups that are not too old."""
    steps = run(train_words(fetch(MODEL_NAME), DATA), NUM_GPUS, "train_async.py")
    check(steps, ROLLOUTS, PROMPTS)
    assert all(step["rollout/fully_async/staleness_max"] <= STALENESS for step in steps)
    assert all(step["perf/rollout_wait_time"] <= step["perf/step_time"] for step in steps)


@pytest.mark.skipif(bool(why := missing(NUM_GPUS)), reason=why)
def test_fully_async_rollouts_are_trained_on() -> None:
    execute()


if __name__ == "__main__":
    if why:
        raise SystemExit(f"{Path(__file__).name}: {why}")
    execute()
