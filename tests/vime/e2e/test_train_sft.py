"""Supervised training with the same command: no engines, conversations in, weights in Hugging Face's form out."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from whole_run import ROOT

for name in ("megatron.core", "ray"):
    pytest.importorskip(name)

pytestmark = pytest.mark.slow
CONFIG = """
cluster: {device: cpu, actor_num_nodes: 1, actor_num_gpus_per_node: 1, rollout_num_gpus: 1, num_gpus_per_node: 2}
model: {dtype: float32}
data: {rollout_batch_size: 80, num_rollout: 10, input_key: messages, rollout_shuffle: true}
algorithm: {loss_type: sft_loss, compute_advantages_and_returns: false, calculate_per_token_loss: true}
optimizer: {lr: 1e-3, lr_decay_style: constant, weight_decay: 0}
parallel: {use_dynamic_batch_size: true, max_tokens_per_gpu: 4096}
debug: {debug_train_only: true}
"""


def _conversations(prepared: Path, to: Path) -> Path:
    rows = [json.loads(line) for line in (prepared / "train.jsonl").read_text("utf-8").splitlines()]
    turns = [{**row, "messages": [*row["prompt"], {"role": "assistant", "content": row["label"]}]} for row in rows]
    to.write_text("".join(json.dumps(turn) + "\n" for turn in turns), "utf-8")
    return to


def test_an_epoch_of_conversations(tmp_path: Path, prepared: Path) -> None:
    (tmp_path / "sft.yaml").write_text(CONFIG, "utf-8")
    words = {
        "--config": tmp_path / "sft.yaml",
        "--hf-checkpoint": prepared / "warm",
        "--rollout-function-path": "vime.rollout.sft_rollout.generate_rollout",
        "--prompt-data": _conversations(prepared, tmp_path / "conversations.jsonl"),
        "--run-dir": tmp_path / "run",
        "--save": tmp_path / "save",
        "--save-hf": tmp_path / "hf",
    }
    command = [sys.executable, "-m", "vime.cli", "train", *(str(x) for pair in words.items() for x in pair)]
    own = {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=ROOT, env=os.environ | own, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr[-3000:]
    rows = [json.loads(line) for line in (tmp_path / "run/metrics.jsonl").read_text("utf-8").splitlines()]
    losses = [row["metrics"]["train/loss"] for row in rows if "train/loss" in row.get("metrics", {})]
    assert len(losses) == 10 and losses[-1] < 0.8 * losses[0]
    assert (tmp_path / "save/latest_checkpointed_iteration.txt").read_text().strip() == "9"
    assert (tmp_path / "hf/model.safetensors").exists() and (tmp_path / "hf/config.json").exists()
