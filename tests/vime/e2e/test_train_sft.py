"""Supervised training with the same command: no engines, conversations in, weights in Hugging Face's form out."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from whole_run import QUICKSTART, ROOT, prepare

for name in ("megatron.core", "ray"):
    pytest.importorskip(name)

pytestmark = pytest.mark.slow


def _conversations(prepared: Path, to: Path) -> Path:
    rows = [json.loads(line) for line in (prepared / "train.jsonl").read_text("utf-8").splitlines()]
    turns = [{**row, "messages": [*row["prompt"], {"role": "assistant", "content": row["label"]}]} for row in rows]
    to.write_text("".join(json.dumps(turn) + "\n" for turn in turns), "utf-8")
    return to


def test_an_epoch_of_conversations(tmp_path: Path) -> None:
    prepared = prepare(tmp_path / "out")
    words = {
        "--config": QUICKSTART / "config.yaml",
        "--hf-checkpoint": prepared / "warm",
        "--rollout-function-path": "vime.rollout.sft_rollout.generate_rollout",
        "--loss-type": "sft_loss",
        "--prompt-data": _conversations(prepared, tmp_path / "conversations.jsonl"),
        "--input-key": "messages",
        "--rollout-batch-size": 80,
        "--n-samples-per-prompt": 1,
        "--num-rollout": 10,
        "--lr-warmup-iters": 1,
        "--run-dir": tmp_path / "run",
        "--save": tmp_path / "save",
        "--save-hf": tmp_path / "hf",
    }
    switches = ("--debug-train-only", "--disable-compute-advantages-and-returns")
    command = [sys.executable, "-m", "vime.cli", "train", *switches, *(str(x) for pair in words.items() for x in pair)]
    own = {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=ROOT, env=os.environ | own, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr[-3000:]
    rows = [json.loads(line) for line in (tmp_path / "run/metrics.jsonl").read_text("utf-8").splitlines()]
    losses = [row["metrics"]["train/loss"] for row in rows if "train/loss" in row.get("metrics", {})]
    assert len(losses) == 10 and losses[-1] < 0.8 * losses[0]
    assert (tmp_path / "save/latest_checkpointed_iteration.txt").read_text().strip() == "9"
    assert (tmp_path / "hf/model.safetensors").exists() and (tmp_path / "hf/config.json").exists()
