"""End-to-end runs on GPUs: where they may be run, and what came of one.

A folder holds the models and data of all, and what runs leave: VIME_TEST_FOLDER, or runs/gpu-tests.
"""

import importlib.util
import json
import math
import os
import shlex
from collections.abc import Sequence
from pathlib import Path

from vime.device import detect
from vime.utils.external_utils.command_utils import exec_command, execute_train, hf_download_dataset

FOLDER = Path(os.environ.get("VIME_TEST_FOLDER", "runs/gpu-tests")).absolute()
DATA = FOLDER / "datasets/dapo-math-17k/dapo-math-17k.jsonl"
_NEEDED = ("vllm", "megatron.core", "ray")


def missing(gpus: int) -> str:
    """Why a run on so many GPUs cannot be made here; empty where it can."""
    lacking = [name for name in _NEEDED if importlib.util.find_spec(name.partition(".")[0]) is None]
    if lacking:
        return f"it needs {', '.join(lacking)}"
    device = detect("auto")
    found = 0 if device.is_cpu else device.count
    return "" if found >= gpus else f"it needs {gpus} GPUs, and {found} can be seen; it was never run so far"


def fetch(model: str) -> Path:
    """The folder of a model of Qwen's; it and the prompts are downloaded unless they are there."""
    place = FOLDER / "models" / model
    exec_command(shlex.join(["hf", "download", f"Qwen/{model}", "--local-dir", str(place)]))
    hf_download_dataset("zhuzilin/dapo-math-17k", root=str(FOLDER / "datasets"))
    return place


def learning_words(model: Path, data: Path, rollouts: int, prompts: int, samples: int) -> list[str]:
    """The options that these runs share: what is learnt, how much of it, and how."""
    return [
        *("--hf-checkpoint", str(model), "--prompt-data", str(data), "--input-key", "prompt", "--label-key", "label"),
        *("--apply-chat-template", "--rollout-shuffle", "--rm-type", "deepscaler", "--rollout-temperature", "0.8"),
        *("--num-rollout", str(rollouts), "--rollout-batch-size", str(prompts), "--n-samples-per-prompt", str(samples)),
        *("--global-batch-size", str(prompts * samples), "--balance-data", "--use-dynamic-batch-size"),
        *("--advantage-estimator", "grpo", "--eps-clip", "0.2", "--eps-clip-high", "0.28"),
        *("--lr", "1e-6", "--lr-decay-style", "constant", "--weight-decay", "0.1", "--adam-beta2", "0.98", "--ci-test"),
    ]


def run(words: Sequence[str], gpus: int, script: str) -> list[dict[str, float]]:
    """Run one of the training scripts as a job of Ray's; the figures of each rollout. Raises where it fails."""
    log = FOLDER / "log" / script.removesuffix(".py") / str(os.getpid())
    execute_train(shlex.join([*words, "--run-dir", str(log)]), gpus, None, train_script=script)
    rows = [json.loads(line) for line in (log / "metrics.jsonl").read_text("utf-8").splitlines()]
    return [row["metrics"] for row in rows if row.get("step_key") == "rollout/step"]


def check(steps: Sequence[dict[str, float]], rollouts: int, prompts: int) -> None:
    """Each rollout was trained on with all of its prompts, and nothing was computed that is no number."""
    assert len(steps) == rollouts, f"{len(steps)} of {rollouts} rollouts were trained on"
    assert all(step["rollout/prompts_trained"] == prompts for step in steps)
    assert all(math.isfinite(step["train/loss"]) and math.isfinite(step["train/grad_norm"]) for step in steps)
